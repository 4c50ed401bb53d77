"""Stores and feedback, as a user meets them: record, judge, diagnose again, ask in SQL."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from pathlib import Path

import schemas
from cli_command import ROOT, Command, pyrometer  # noqa: F401  (fixture)

LOG = ROOT / "corpus" / "logs" / "straggler.zst"
OTHER = ROOT / "corpus" / "logs" / "data_skew.zst"


def rows(store: Path, statement: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(store) as db:
        return db.execute(statement).fetchall()


def report(run: subprocess.CompletedProcess[str]) -> dict:
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_a_run_is_kept_once(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = tmp_path / "runs.db"
    for _ in range(2):
        done = report(pyrometer("diagnose", LOG, "-f", "json", "--store", f"sqlite:{store}", "--name", "good"))
    app = done["application"]
    assert rows(store, "SELECT app_id, name, start_ms, end_ms, duration_ms FROM runs") == [
        (app["id"], app["name"], app["start_ms"], app["end_ms"], app["duration_ms"])
    ]
    assert rows(store, "SELECT id, rule, severity FROM findings ORDER BY id") == sorted(
        (one["id"], one["rule"], one["severity"]) for one in done["findings"]
    )
    (kept,) = rows(store, "SELECT json FROM reports")[0]
    assert json.loads(kept) == done
    sums = dict(rows(store, "SELECT name, value FROM aggregates WHERE name LIKE 'stages.%.sum'"))
    assert sums["stages.inputBytes.sum"] == sum(stage["input_bytes"] for stage in done["stages"])
    assert sums["stages.jvmGcTime.sum"] == sum(stage["gc_ms"] for stage in done["stages"])
    assert rows(store, "SELECT name, app_id FROM baselines") == [("good", app["id"])]


def test_feedback_folds_and_calibrates(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = f"sqlite:{tmp_path / 'runs.db'}"
    first = report(pyrometer("diagnose", LOG, "-f", "json", "-s", store))
    finding = next(one for one in first["findings"] if one["rule"] == "straggler")
    text = pyrometer("diagnose", LOG, "-s", store).stdout
    assert f"Id: {finding['id']}" in " ".join(text.split())
    assert pyrometer("feedback", finding["id"], "--verdict", "confirmed", "-s", store).returncode == 0
    again = report(pyrometer("diagnose", LOG, "-f", "json", "-s", store))
    confirmed = next(one for one in again["findings"] if one["id"] == finding["id"])
    assert confirmed["confidence"] > finding["confidence"] and not confirmed["folded"]
    done = pyrometer("feedback", finding["id"], "--verdict", "false-positive", "--note", "one slow service", "-s", store)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    again = report(pyrometer("diagnose", LOG, "-f", "json", "-s", store))
    folded = next(one for one in again["findings"] if one["id"] == finding["id"])
    assert folded["folded"] and folded["feedback"]["note"] == "one slow service"
    assert folded["confidence"] < finding["confidence"]
    text = pyrometer("diagnose", LOG, "-s", store).stdout
    assert "MARKED AS FALSE POSITIVE" in text and "one slow service" in text and finding["cause"][:30] not in text


def test_missed_problems_are_kept(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = tmp_path / "runs.db"
    environment = {**pyrometer.environment, "PYROMETER_STORE": f"sqlite:{store}"}
    assert pyrometer("feedback", LOG, "--missed", "disk-spill", env=environment).returncode == 0
    assert pyrometer("feedback", LOG, "--missed", "the lake was slow", "--note", "ask ops", env=environment).returncode == 0
    assert rows(store, "SELECT rule, verdict, note FROM feedback") == [
        ("disk-spill", "missed", ""),
        ("", "missed", "the lake was slow: ask ops"),
    ]


def test_mistakes_are_explained(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = f"sqlite:{tmp_path / 'runs.db'}"
    assert pyrometer("feedback", "x", "--verdict", "confirmed").returncode == 2
    assert pyrometer("feedback", "x", "-s", store).returncode == 2
    assert pyrometer("feedback", "x", "--verdict", "fixed", "--missed", "y", "-s", store).returncode == 2
    unknown = pyrometer("feedback", "no-such:finding", "--verdict", "fixed", "-s", store)
    assert unknown.returncode == 2 and "no run" in unknown.stderr
    assert pyrometer("diagnose", LOG, "--name", "x").returncode == 2
    assert pyrometer("diagnose", LOG, "-s", "mongodb:x").returncode == 2
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as db:
        db.execute("CREATE TABLE mine (x)")
    refused = pyrometer("diagnose", LOG, "-s", f"sqlite:{database}")
    assert refused.returncode == 3 and "not a Pyrometer store" in refused.stderr


def test_unreadable_inputs_are_recorded(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "junk").write_text("not a log\n")
    store = tmp_path / "runs.db"
    pyrometer("diagnose", LOG, tmp_path / "junk", "-s", f"sqlite:{store}")
    ((app, step, message),) = rows(store, "SELECT app_id, step, message FROM errors")
    assert app.endswith("junk") and step == "read" and message


def test_writers_wait_for_each_other(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = tmp_path / "runs.db"
    running = [
        subprocess.Popen(
            [pyrometer.binary, "diagnose", str(log), "-s", f"sqlite:{store}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for log in (LOG, OTHER) * 4
    ]
    assert [process.wait(timeout=60) for process in running] == [0] * len(running)
    for process in running:
        process.stderr.close()
    assert rows(store, "SELECT count(*) FROM runs") == [(2,)]


def test_a_gate_knows_the_store(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = f"sqlite:{tmp_path / 'runs.db'}"
    first = report(pyrometer("diagnose", LOG, "-f", "json", "-s", store, "--name", "main"))
    assert pyrometer("gate", LOG, "--baseline", "main", "-s", store).returncode == 0
    assert pyrometer("gate", OTHER, "--baseline", "main", "-s", store).returncode == 1
    unknown = pyrometer("gate", LOG, "--baseline", "gone", "-s", store)
    assert unknown.returncode == 3 and "no run in the store" in unknown.stderr
    assert pyrometer("gate", LOG, "--fail-on", "moderate", "-s", store).returncode == 1
    for finding in first["findings"]:
        pyrometer("feedback", finding["id"], "--verdict", "false-positive", "-s", store)
    assert pyrometer("gate", LOG, "--fail-on", "moderate", "-s", store).returncode == 0
    results = report(pyrometer("diagnose", LOG, "-f", "sarif", "-s", store))["runs"][0]["results"]
    assert results and all(one["suppressions"] for one in results)


def test_what_is_kept_of_a_run(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = tmp_path / "runs.db"
    done = report(pyrometer("diagnose", OTHER, "-f", "json", "--store", f"sqlite:{store}"))
    (raw,) = rows(store, "SELECT json FROM raw")[0]
    document = json.loads(raw)
    schemas.check(document, "pyrometer.history_document-1.json")
    settings = dict(rows(store, "SELECT key, value FROM properties"))
    assert dict(document["environment"]["sparkProperties"]) == settings
    assert settings["spark.executor.memory"] == "1g"
    typed = document["sparkProperties"]
    assert (typed["spark.executor.memory"], typed["spark.eventLog.enabled"]) == (1 << 30, True)
    assert typed["spark.app.name"] == document["name"] == done["application"]["name"]
    numbers = dict(rows(store, "SELECT name, value FROM aggregates"))
    (sums,) = rows(store, "SELECT sum(core_ms), sum(busy_core_ms), sum(input_bytes), sum(shuffle_bytes) FROM usage")
    totals, core = done["totals"], done["accounting"]["core"]
    parts = {part["name"]: part["ms"] for part in core["parts"]}
    idle = sum(ms for name, ms in parts.items() if name.startswith("idle_"))
    shuffled = totals["shuffle_read_bytes"] + totals["shuffle_write_bytes"]
    assert sums == (core["total_ms"], core["total_ms"] - idle, totals["input_bytes"], shuffled)
    assert (numbers["run.core_ms"], numbers["run.idle_core_ms"]) == (core["total_ms"], idle)
    (allocation,) = rows(store, "SELECT core_ms, parts, platform FROM allocations")
    assert sum(json.loads(str(allocation[1])).values()) == allocation[0] and allocation[2] == "standalone"
    advised = dict(rows(store, "SELECT key, value FROM advice WHERE key <> ''"))
    assert advised == done["config_changes"] != {}


def test_documented_names(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = tmp_path / "runs.db"
    report(pyrometer("diagnose", OTHER, "-f", "json", "--store", f"sqlite:{store}"))
    page = (ROOT / "docs" / "store.md").read_text(encoding="utf-8")
    names = {str(name) for (name,) in rows(store, "SELECT name FROM aggregates")}
    for group in ("summary", "run"):
        found = {name.partition(".")[2] for name in names if name.startswith(f"{group}.")}
        table = page.partition(f"| `{group}.` |")[2].partition("\n\n")[0]
        documented = set(re.findall(r"`([a-z_0-9]+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:])))
        parts = {name for name in found if re.match(r"(wall|core)_.*_ms$", name)}  # core_PART_ms
        assert found - parts == documented - {"cache_hit_share"} | ({"cache_hit_share"} & found)
