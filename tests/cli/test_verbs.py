"""diagnose, sql, rules and doctor: documents and exit statuses."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from schemas import check

from cli_command import ROOT, Command, compressed_log, log, pyrometer  # noqa: F401 (fixtures)


def validate(document: Any, name: str) -> None:
    """Check a document against its schema."""
    check(document, f"pyrometer.{name}-1.json")


def test_one_log_is_one_report(pyrometer: Command, log: Path) -> None:
    report = json.loads(pyrometer("diagnose", log, "-f", "json").stdout)
    assert report["schema"] == "pyrometer.report/1"
    assert report["application"]["id"]


@pytest.mark.parametrize("form", ["text", "markdown", "csv"])
def test_other_formats(pyrometer: Command, log: Path, form: str) -> None:
    run = pyrometer("diagnose", log, "--format", form)
    assert (run.returncode, run.stderr) == (0, "")
    assert len(run.stdout) > 100


def test_several_logs_are_one_document(pyrometer: Command, log: Path, compressed_log: Path) -> None:
    run = pyrometer("diagnose", log, compressed_log, "missing", "--format", "json")
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    assert document["schema"] == "pyrometer.reports/1"
    assert len(document["reports"]) == 2
    assert [row["path"] for row in document["unreadable"]] == ["missing"]
    assert document["unreadable"][0]["error"]


def test_several_logs_as_text_name_the_unreadable_on_stderr(pyrometer: Command, log: Path) -> None:
    run = pyrometer("diagnose", log, "missing")
    assert run.returncode == 0
    assert run.stderr.count("\n") == 1
    assert "missing" in run.stderr


def test_a_folder_of_one_log_is_one_report(pyrometer: Command, log: Path) -> None:
    assert json.loads(pyrometer("diagnose", log.parent, "-f", "json").stdout)["schema"] == "pyrometer.report/1"


def test_none_readable_is_3_with_one_line(pyrometer: Command) -> None:
    (pyrometer.folder / "empty").write_bytes(b"")
    (pyrometer.folder / "two\nlines").write_bytes(b"no log\n")
    (pyrometer.folder / "folder").mkdir()
    for words in (["missing"], ["empty"], ["two\nlines"], ["folder"], ["/dev/null"], ["-"], ["missing", "empty"]):
        run = pyrometer("diagnose", *words)
        assert (run.returncode, run.stdout) == (3, ""), words
        assert len(run.stderr.splitlines()) == 1, run.stderr
        assert run.stderr.startswith("pyrometer: cannot read ")


def test_none_readable_of_several_still_makes_a_json_document(pyrometer: Command) -> None:
    run = pyrometer("diagnose", "missing", "absent", "-f", "json")
    assert run.returncode == 3
    assert len(run.stderr.splitlines()) == 1
    document = json.loads(run.stdout)
    assert document["reports"] == []
    assert len(document["unreadable"]) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission_is_3(pyrometer: Command, log: Path) -> None:
    secret = pyrometer.folder / "secret"
    secret.write_bytes(log.read_bytes())
    secret.chmod(0)
    run = pyrometer("diagnose", secret)
    assert run.returncode == 3
    assert "ermission" in run.stderr


def test_standard_input(pyrometer: Command, log: Path, compressed_log: Path) -> None:
    for path in (log, compressed_log):
        with path.open("rb") as stdin:
            assert pyrometer("diagnose", "-", stdin=stdin).returncode == 0


def test_threads_never_show(pyrometer: Command, log: Path) -> None:
    one = pyrometer("diagnose", log, "-f", "json", "--threads", "1").stdout
    assert one == pyrometer("diagnose", log, "-f", "json", "--threads", "7").stdout


def test_times_are_utc_unless_told(pyrometer: Command, log: Path) -> None:
    report = pyrometer("diagnose", log).stdout
    assert report == pyrometer("diagnose", log, "--tz", "UTC", env={**pyrometer.environment, "TZ": "Asia/Tokyo"}).stdout
    shifted = pyrometer("diagnose", log, "--tz", "+05:30").stdout
    assert shifted != report
    local = {**pyrometer.environment, "TZ": "XXX-05:30"}
    assert pyrometer("diagnose", log, "--tz", "local", env=local).stdout == shifted


def test_a_dash_ends_options(pyrometer: Command, log: Path) -> None:
    (pyrometer.folder / "--help").symlink_to(log)
    assert pyrometer("diagnose", "--format=json", "--", "--help").returncode == 0


def test_sql(pyrometer: Command, log: Path) -> None:
    rows = json.loads(pyrometer("sql", log, "SELECT count(*) AS n FROM tasks", "--format", "json").stdout)
    assert rows[0]["n"] > 0
    table = list(csv.reader(io.StringIO(pyrometer("sql", log, "SELECT 1 AS a, 'x,y' AS b", "-f", "csv").stdout)))
    assert table == [["a", "b"], ["1", "x,y"]]
    assert "| a |" in pyrometer("sql", log, "SELECT 1 AS a", "-f", "markdown").stdout
    assert "a" in pyrometer("sql", log, "SELECT 1 AS a").stdout.splitlines()[0]


def test_sql_from_standard_input(pyrometer: Command, log: Path) -> None:
    run = pyrometer("sql", log, "-", "-f", "json", input="SELECT 1 AS one")
    assert json.loads(run.stdout) == [{"one": 1}]
    with log.open("rb") as stdin:
        run = pyrometer("sql", "-", "SELECT 1 AS one", "--format=json", stdin=stdin)
    assert json.loads(run.stdout) == [{"one": 1}]


@pytest.mark.parametrize("statement", ["SELECT nothing FROM nowhere", "DROP TABLE tasks", "", "SELECT 1; SELECT 2"])
def test_a_wrong_statement_is_2(pyrometer: Command, log: Path, statement: str) -> None:
    run = pyrometer("sql", log, statement)
    assert (run.returncode, run.stdout) == (2, "")
    assert len(run.stderr.splitlines()) == 1


def test_sql_wants_one_log(pyrometer: Command) -> None:
    run = pyrometer("sql", ROOT / "corpus" / "logs", "SELECT 1")
    assert run.returncode == 2
    assert "name one of them" in run.stderr
    assert pyrometer("sql", "missing", "SELECT 1").returncode == 3


def test_rules(pyrometer: Command) -> None:
    document = json.loads(pyrometer("rules", "--format", "json").stdout)
    assert document["schema"] == "pyrometer.rules/1"
    validate(document, "rules")
    ids = [rule["id"] for rule in document["rules"]]
    assert "data-skew" in ids
    listed = pyrometer("rules").stdout
    for name in ids:
        assert name in listed
        page = pyrometer("rules", name).stdout
        assert page.startswith((ROOT / "docs" / "rules" / f"{name}.md").read_text(encoding="utf-8"))
    one = json.loads(pyrometer("rules", "data-skew", "-f", "json").stdout)
    validate(one, "rule")
    assert (one["schema"], one["id"]) == ("pyrometer.rule/1", "data-skew")
    assert one["page"] == (ROOT / "docs" / "rules" / "data-skew.md").read_text(encoding="utf-8")


def test_doctor(pyrometer: Command) -> None:
    run = pyrometer("doctor")
    assert run.returncode == 0
    assert "zstd" in run.stdout
    document = json.loads(pyrometer("doctor", "--format", "json").stdout)
    assert document["schema"] == "pyrometer.doctor/1"
    validate(document, "doctor")
    assert document["processors"] >= 1
    assert {"codec", "layout"} <= {feature["kind"] for feature in document["features"]}
    assert all(feature["available"] in (True, False) for feature in document["features"])


def doctor_rows(run: Any, kind: str) -> dict[str, dict[str, Any]]:
    """What doctor says of `serve` or `mcp`, by name."""
    document = json.loads(run.stdout)
    validate(document, "doctor")
    return {row["name"]: row for row in document["features"] if row["kind"] == kind}


def test_doctor_tries_what_serve_needs(pyrometer: Command, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**pyrometer.environment, "TMPDIR": str(temporary), "HOME": str(tmp_path)}
    run = pyrometer("doctor", "-f", "json", env=environment)
    rows = doctor_rows(run, "serve")
    assert {"uploads", "listen", "web UI", "cache", "changes at once", "connections"} <= set(rows)
    assert not {"tokens", "TLS"} & set(rows)  # nothing was asked about them
    assert rows["listen"]["available"] and rows["uploads"]["available"] and rows["cache"]["available"]
    assert rows["cache"]["detail"] == f"{tmp_path}/.cache/pyrometer"
    html = next(row for row in json.loads(run.stdout)["features"] if (row["kind"], row["name"]) == ("report", "html"))
    assert rows["web UI"]["available"] == html["available"]
    assert list(temporary.iterdir()) == []  # nothing is left behind
    assert not (tmp_path / ".cache").exists()


def test_doctor_says_what_serve_lacks(pyrometer: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words = ["doctor", "-f", "json", "--cache", str(tmp_path / "file" / "cache"), "--tokens", str(tmp_path / "none")]
    rows = doctor_rows(pyrometer(*words, "--tls-cert", "no.pem", "--tls-key", "no.pem"), "serve")
    assert [rows[name]["available"] for name in ("cache", "tokens", "TLS", "listen")] == [False, False, False, True]
    assert "--no-cache" in rows["cache"]["detail"]
    assert str(tmp_path / "none") in rows["tokens"]["detail"]
    assert "no.pem" in rows["TLS"]["detail"]
    missing = {**pyrometer.environment, "TMPDIR": str(tmp_path / "file")}
    run = pyrometer("doctor", "-f", "json", env=missing)
    rows = doctor_rows(run, "serve")
    assert not rows["uploads"]["available"] and not rows["listen"]["available"]
    assert "TMPDIR" in rows["uploads"]["detail"]
    assert "missing; the lines above say how to get" in pyrometer("doctor", env=missing).stdout


def test_doctor_tries_a_file_of_tokens(pyrometer: Command, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    made = pyrometer("serve", "--add-token", "vera", "--tokens", tokens)
    assert made.returncode == 0, made.stderr
    assert doctor_rows(pyrometer("doctor", "-f", "json", "--tokens", tokens), "serve")["tokens"]["available"]
    tokens.write_text("nonsense\n")
    assert not doctor_rows(pyrometer("doctor", "-f", "json", "--tokens", tokens), "serve")["tokens"]["available"]


def test_doctor_starts_mcp(pyrometer: Command) -> None:
    rows = doctor_rows(pyrometer("doctor", "-f", "json"), "mcp")
    source = (ROOT / "src" / "serve" / "mcp" / "rpc.c").read_text(encoding="utf-8")
    newest = source.split("revisions[] = {\"")[1].split('"')[0]
    assert rows["protocol"]["available"] and newest in rows["protocol"]["detail"]
    tools = (ROOT / "src" / "serve" / "mcp" / "tools.def").read_text(encoding="utf-8")
    assert rows["tools"]["detail"] == str(sum(line.startswith("MCP_TOOL(") for line in tools.splitlines()))
