"""Who started an application, whose trace it is part of, and tags of jobs: what the log says of them and no column has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from conftest import ROOT, run_command

pytestmark = pytest.mark.sanitize
CONNECT = ROOT / "tests" / "logs" / "versions" / "spark-4.3.0-connect"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def make_log(folder: Path, properties: Dict[str, str], tags: str = "") -> Path:
    events: List[Dict[str, Any]] = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {}, "Spark Properties": properties,
         "System Properties": {}, "Classpath Entries": {}},
        {"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "app-1", "Timestamp": 1700000000000, "User": "u"},
        {"Event": "SparkListenerJobStart", "Job ID": 3, "Submission Time": 1700000000100, "Stage Infos": [], "Stage IDs": [],
         "Properties": {"spark.job.tags": tags} if tags else {}},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 1700000001000},
    ]
    log = folder / "log"
    log.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    return log


def attributes(binary: str, log: Path) -> List[Dict[str, Any]]:
    run = run_command([binary, "sql", str(log), "SELECT * FROM attributes", "--format", "json"])
    assert run.exit == 0, run.explain()
    rows: List[Dict[str, Any]] = json.loads(run.out)
    return rows


def orchestrator(binary: str, log: Path) -> Optional[Dict[str, Any]]:
    run = run_command([binary, "diagnose", str(log), "-f", "json"])
    assert run.exit == 0, run.explain()
    found: Optional[Dict[str, Any]] = json.loads(run.out)["application"]["orchestrator"]
    return found


@pytest.mark.parametrize(("properties", "expected"), [
    ({}, None),
    ({"spark.openlineage.parentJobName": ""}, None),
    ({"spark.openlineage.parentJobName": "alone"}, None),
    ({"spark.openlineage.parentJobName": ".load"}, None),
    ({"spark.openlineage.parentJobName": "daily.load"}, ("daily", "load", None)),
    ({"spark.openlineage.parentJobName": "daily.group.load", "spark.openlineage.parentRunId": "r"}, ("daily", "group.load", "r")),
    ({"spark.openlineage.parentJobName": "daily.eu.load", "spark.openlineage.rootParentJobName": "daily.eu"},
     ("daily.eu", "load", None)),
    ({"spark.openlineage.parentJobName": "daily.load", "spark.openlineage.rootParentJobName": "other"}, ("daily", "load", None)),
    ({"spark.yarn.appMasterEnv.AIRFLOW_CTX_DAG_ID": "d", "spark.executorEnv.AIRFLOW_CTX_TASK_ID": "t",
      "spark.kubernetes.driverEnv.AIRFLOW_CTX_DAG_RUN_ID": "manual", "spark.openlineage.parentRunId": "uuid"},
     ("d", "t", "manual")),
    ({"spark.pyrometer.orchestrator.dag_id": "mine", "spark.openlineage.parentJobName": "daily.load"}, ("mine", "load", None)),
    ({"spark.pyrometer.orchestrator.run_id": "r"}, (None, None, "r")),
])
def test_what_started_it(binary: str, tmp_path: Path, properties: Dict[str, str], expected: Any) -> None:
    found = orchestrator(binary, make_log(tmp_path, properties))
    assert found == (expected and dict(zip(("dag_id", "task_id", "run_id"), expected)))


def test_texts_say_it(binary: str, tmp_path: Path) -> None:
    log = make_log(tmp_path, {"spark.openlineage.parentJobName": "daily.load|now", "spark.openlineage.parentRunId": "r"})
    for form, text in (("text", "Started by: dag daily, task load|now, run r\n"), ("markdown", "Started by: dag daily, task load")):
        run = run_command([binary, "diagnose", str(log), "-f", form])
        assert text in run.out.decode(), run.explain()


@pytest.mark.parametrize(("parent", "valid"), [
    (f"00-{TRACE}-{SPAN}-01", True),
    (f"00-{TRACE}-{SPAN}-0", False),
    (f"00-{TRACE}-{SPAN}-zz", False),
    (f"01-{TRACE}-{SPAN}-00", True),
    (f"01-{TRACE}-{SPAN}-00-more", True),
    (f"01-{TRACE}-{SPAN}-00more", False),
    (f"00-{TRACE}-{SPAN}-01-x", False),
    (f"ff-{TRACE}-{SPAN}-01", False),
    (f"00-{TRACE.upper()}-{SPAN}-01", False),
    (f"00-{'0' * 32}-{SPAN}-01", False),
    (f"00-{TRACE}-{'0' * 16}-01", False),
    (f"00_{TRACE}-{SPAN}-01", False),
])
def test_spans_are_part_of_the_trace(binary: str, tmp_path: Path, parent: str, valid: bool) -> None:
    log = make_log(tmp_path, {"spark.pyrometer.trace.parent": parent})
    run = run_command([binary, "export", str(log), "--to", "otlp"])
    assert run.exit == 0, run.explain()
    spans = json.loads(run.out.splitlines()[0])["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert {span["traceId"] == TRACE for span in spans} == {valid}
    (root,) = [span for span in spans if span["name"].startswith("application ")]
    assert root.get("parentSpanId") == (SPAN if valid else None)
    assert [row["key"] for row in attributes(binary, log)] == (["trace_id", "parent_span_id"] if valid else [])


def test_tags_of_jobs(binary: str, tmp_path: Path) -> None:
    tags = "mine,,spark-session-xyz,SparkConnect_OperationTag_User_a,b_Operation_77aa"
    found = attributes(binary, make_log(tmp_path, {}, tags))
    assert [(row["row"], row["key"], row["value"]) for row in found] == [
        (3, "spark.job.tag", "mine"), (3, "spark.job.tag", "SparkConnect_OperationTag_User_a"), (3, "spark.job.tag", "b_Operation_77aa")]


def test_jobs_of_operations(binary: str) -> None:
    """A real log of Spark Connect: every job's operation is one of the table's."""
    run = run_command([binary, "sql", str(CONNECT), "SELECT a.row, o.user, o.started_ms <= j.submitted_ms AS later FROM attributes a "
                       "JOIN jobs j ON j.id = a.row LEFT JOIN operations o ON o.id = a.value "
                       "WHERE a.key = 'spark.connect.operation_id'", "--format", "json"])
    assert run.exit == 0, run.explain()
    rows = json.loads(run.out)
    assert rows and all(row["user"] is not None and row["later"] == 1 for row in rows)
