"""Secrets that a log holds are in no output, whatever asks for it."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any, Dict, List, Tuple

import cramjam
import pytest
from servers.pyrometer import Server

import conftest

SHOWN = "*********(redacted)"
# What is planted: none of these may be seen anywhere.
PLANTED: Dict[str, str] = {
    "key": "hunter2-by-key",
    "value": "hunter2-by-value",
    "own": "hunter2-by-own-expression",
    "hadoop": "hunter2-hadoop",
    "plan": "hunter2-plan",
    "detail": "hunter2-detail",
    "description": "hunter2-description",
    "failure": "hunter2-failure",
    "url": "hunter2-url",
    "job": "hunter2-job",
    "option": "hunter2-option",
    "named": "hunter2-named-option",
    "string": "hunter2-555-1234",
}
# Settings of the log itself.
OWN: Dict[str, str] = {
    "spark.redaction.regex": "(?i)secret|password|mypin",
    "spark.sql.redaction.options.regex": "(?i)lodging",
    "spark.sql.redaction.string.regex": "hunter2-555-[0-9]+",
}


def plant(events: List[Dict[str, Any]]) -> None:
    """Adds secrets to every kind of text that people and programs write."""
    for event in events:
        kind = event["Event"].rsplit(".", 1)[-1]
        if kind == "SparkListenerEnvironmentUpdate":
            event["Spark Properties"]["spark.my.password"] = PLANTED["key"]
            event["Spark Properties"].update(OWN)
            event["Spark Properties"]["spark.app.mypin"] = PLANTED["own"]
            event["Hadoop Properties"]["fs.s3a.access.key"] = PLANTED["hadoop"]
            event["System Properties"]["sun.java.command"] = f"Main --conf spark.x.SECRET={PLANTED['value']} app.jar"
        elif kind == "SparkListenerJobStart":
            event.setdefault("Properties", {})["spark.job.description"] = f"load with api_token={PLANTED['job']}"
        elif kind == "SparkListenerStageCompleted":
            event["Stage Info"]["Failure Reason"] = f'cannot reach jdbc://me:{PLANTED["url"]}@db, "password": "{PLANTED["failure"]}"'
        elif kind == "SparkListenerSQLExecutionStart":
            event["description"] = f"CREATE TABLE t OPTIONS (password '{PLANTED['description']}', secret={PLANTED['description']})"
            event["physicalPlanDescription"] += f"\n(9) Scan JDBC [password={PLANTED['plan']},user=me]"
            event["sparkPlanInfo"]["simpleString"] += f" [accessKey={PLANTED['detail']}]"
            options = f" [url={PLANTED['option']}, lodging={PLANTED['named']}], (phone = {PLANTED['string']})"
            event["physicalPlanDescription"] += options
            event["sparkPlanInfo"]["simpleString"] += options
            event["description"] += f" OPTIONS (url '{PLANTED['option']}', `lodging` \"{PLANTED['named']}\")"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    text = bytes(cramjam.zstd.decompress((conftest.ROOT / "corpus" / "logs" / "healthy_sql.zst").read_bytes())).decode()
    events = [json.loads(line) for line in text.splitlines() if line]
    plant(events)
    (folder / "app").write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return folder


def pyrometer(*words: str) -> conftest.Run:
    return conftest.run_command([str(conftest.binary_path()), *words])


def check(text: str) -> None:
    for value in OWN.values():  # as in the log
        text = text.replace(json.dumps(value)[1:-1], "").replace(value, "")
    assert re.findall(r"hunter2[\w-]*", text) == []


@pytest.mark.parametrize("form", ["text", "json", "html", "markdown", "sarif", "junit", "csv"])
def test_reports(planted: Path, form: str) -> None:
    run = pyrometer("diagnose", str(planted / "app"), "--format", form)
    if run.exit == 2 and b"npm" in run.err:
        pytest.skip("this build has no web page")
    assert run.exit == 0
    check(conftest.unpacked(run.out.decode()))


def test_tables(planted: Path) -> None:
    log = str(planted / "app")
    seen = ""
    for table in ("applications", "jobs", "stages", "executors", "sql", "sql_nodes", "properties"):
        run = pyrometer("sql", log, f"SELECT * FROM {table}", "--format", "json")
        assert run.exit == 0
        check(run.out.decode())
        seen += run.out.decode()
    assert SHOWN in seen


def test_export(planted: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = pyrometer("export", str(planted / "app"), "--anonymized", "-o", str(out))
    assert run.exit == 0, run.err
    check(out.read_text(encoding="utf-8"))


def test_agents(planted: Path) -> None:
    """What the tools answer of the log, over the protocol's standard input."""
    app = next(json.loads(line) for line in (planted / "app").read_text(encoding="utf-8").splitlines() if '"App ID"' in line)["App ID"]
    calls = [("list_applications", {}), ("diagnose", {"app": app}), ("sql_plan", {"app": app, "execution": 0}),
             ("query", {"app": app, "statement": "SELECT * FROM properties"}),
             ("query", {"app": app, "statement": "SELECT * FROM sql"}), ("stage", {"app": app, "stage": 0})]
    questions = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}]
    questions += [{"jsonrpc": "2.0", "id": i + 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
                  for i, (name, given) in enumerate(calls)]
    asked = tmp_file(planted, "".join(json.dumps(one) + "\n" for one in questions))
    with asked.open("rb") as stdin:
        run = conftest.run_command([str(conftest.binary_path()), "mcp", str(planted)], stdin)
    told = [json.loads(line) for line in run.out.decode().splitlines()]
    assert len(told) == len(questions)
    assert not [one for one in told if "error" in one or one["result"].get("isError")], run.out
    check(run.out.decode())


def tmp_file(folder: Path, text: str) -> Path:
    made = folder.parent / f"{folder.name}-questions"
    made.write_text(text, encoding="utf-8")
    return made


def test_expressions_without_end(planted: Path, tmp_path: Path) -> None:
    """A log whose own expressions would never end is read nevertheless; what they cannot decide is not shown."""
    events = [json.loads(line) for line in (planted / "app").read_text(encoding="utf-8").splitlines()]
    for event in events:
        if event["Event"] == "SparkListenerEnvironmentUpdate":
            event["Spark Properties"].update(dict.fromkeys(OWN, "(a+)+$|(a|aa)*b"))
            event["System Properties"].update({f"x{i}": "a" * 20_000 for i in range(50)})
    (tmp_path / "app").write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    run = pyrometer("sql", str(tmp_path / "app"), "SELECT * FROM properties WHERE key LIKE 'x%'", "--format", "json")
    assert run.exit == 0 and not run.timed_out, run.explain()
    assert SHOWN in run.out.decode()


def answers(server: Server) -> List[Tuple[str, str]]:
    app = json.loads(server.get("applications")[2])[0]["id"]
    spark = ["environment", "jobs", "stages?details=true", "sql?planDescription=true", "sql?details=true", "allexecutors"]
    own = ["report", "timeline", "sql", "environment", "configuration", "executors", "stages/0/0", "sql/0"]
    paths = [f"/api/v1/applications/{app}/{one}" for one in spark]
    paths += [f"/pyrometer/v1/applications/{app}/-/{one}" for one in own]
    return [(path, server.request("GET", path)[2].decode()) for path in paths]


def test_server(planted: Path) -> None:
    with Server(planted) as server:
        found = answers(server)
    for _, text in found:
        check(text)
    environment = json.loads(found[0][1])
    spark = dict(environment["sparkProperties"])
    assert spark["spark.my.password"] == spark["spark.app.mypin"] == SHOWN
    assert dict(environment["systemProperties"])["sun.java.command"] == SHOWN
    assert spark["spark.app.name"] != SHOWN


def test_expressions_that_come_late(planted: Path, tmp_path: Path) -> None:
    """A log's own expressions hold for what came before them too, in reports and in the server's answers."""
    events = [json.loads(line) for line in (planted / "app").read_text(encoding="utf-8").splitlines()]
    late = [event for event in events if event["Event"] == "SparkListenerEnvironmentUpdate"]
    first = [event for event in events if event["Event"] != "SparkListenerEnvironmentUpdate"]
    for event in first:
        if event["Event"].endswith("SQLExecutionStart"):
            event["description"] += " of 555-98765 and lodging=hunter2-late, mypin=hunter2-late"
        if event["Event"] == "SparkListenerExecutorAdded":
            event["Executor Info"]["Attributes"] = {"mypin": "hunter2-late", "other": "1"}
        if event["Event"] == "SparkListenerApplicationStart":
            event["User"] = "user 555-98765"
    for event in late:
        event["Spark Properties"]["spark.redaction.string.regex"] = "555-[0-9]+"
    (tmp_path / "app").write_text("".join(json.dumps(event) + "\n" for event in first + late), encoding="utf-8")
    for table in ("sql", "applications", "sql_nodes", "properties"):
        text = pyrometer("sql", str(tmp_path / "app"), f"SELECT * FROM {table}", "--format", "json").out.decode()
        check(text)
        assert "555-9" not in text
        assert "\\u0000" not in text
    with Server(tmp_path) as server:
        for path, text in answers(server):
            check(text)
            assert "555-9" not in text, path
            assert "\\u0000" not in text, path


def test_stored_by_another_version(planted: Path, tmp_path: Path) -> None:
    """What a store kept before its texts were redacted as they are now is redacted when it is read."""
    store = tmp_path / "runs.db"
    assert pyrometer("diagnose", str(planted / "app"), "--store", f"sqlite:{store}", "--format", "json").exit == 0
    db = sqlite3.connect(store)
    assert db.execute("SELECT count(*) FROM run_redaction").fetchone() == (1,)
    db.execute("UPDATE run SET name = name || ' token=hunter2-old', path = '/nowhere'")
    db.execute("""UPDATE run_report SET json = replace(json, '"master": "',
               '"master": "password=hunter2-old, \\"api_key\\": \\"hunter2-old\\" ')""")
    db.execute("""UPDATE run_report SET json = replace(json, '"application": {', '"application": {"x.password": "hunter2-old", ')""")
    db.execute("DELETE FROM run_redaction")
    db.commit()
    db.close()
    assert b"hunter2-old" in store.read_bytes()
    with Server(Path(f"sqlite:{store}")) as server:
        listed = server.get("applications")[2].decode()
        app = json.loads(listed)[0]["id"]
        report = server.request("GET", f"/pyrometer/v1/applications/{app}/-/report")[2].decode()
    check(listed + report)
    assert SHOWN in listed
    assert json.loads(report)["application"]["x.password"] == SHOWN


def test_the_option_is_part_of_what_is_kept(planted: Path, tmp_path: Path) -> None:
    """What one way of redacting left in the cache folder is not shown under the other."""
    logs = tmp_path / "logs"
    logs.mkdir()
    lines = (planted / "app").read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line.replace('"App Name": "', '"App Name": "passwd=hunter2-name ') if "ApplicationStart" in line else line for line in lines)
    filler = json.dumps({"Event": "SparkListenerTaskGettingResult", "Task Info": {"Task ID": 1}}) + "\n"
    (logs / "app").write_text(text + filler * (17 * 2**20 // len(filler)), encoding="utf-8")
    shown = []
    for how in ("spark", "wide", "wide", "spark"):
        with Server(logs, "--cache", str(tmp_path / "cache"), "--redact", how) as server:
            listed = server.get("applications")[2].decode()
            app = json.loads(listed)[0]["id"]
            shown.append(("hunter2-name" in listed, "hunter2-name" in server.get(f"applications/{app}/environment")[2].decode()))
            check(server.get(f"applications/{app}/jobs")[2].decode())
    assert shown == [(True, False), (False, False), (False, False), (True, False)]
