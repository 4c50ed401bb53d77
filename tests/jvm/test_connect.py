"""A client's trace context reaches the spans of its operations: stock PySpark, a real Connect server, a real collector."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from servers import collector, connect, isolated, plugin, shared, spark

OPERATIONS = Path(__file__).parent / "jobs" / "operations.py"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
OTHER = "0af7651916cd43dd8448eb211c80319c"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


@pytest.fixture(scope="module", params=spark.VERSIONS)
def sent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tuple[List[Dict[str, Any]], List[Dict[str, Any]]]:
    """Spans and metrics of a server with three clients: one with a trace and baggage, one with none, one with a wrong one."""
    shared.home_or_skip(request.param)
    for needed in (plugin.jar, lambda: collector.program("collector"), connect.client_packages, spark.arrow_packages):
        shared.or_skip(needed)
    if request.param == spark.SPARK_3:
        shared.or_skip(connect.server_jar)
    folder = tmp_path_factory.mktemp("connect")
    parameters = [f"traceparent=00-{TRACE}-{SPAN}-01;baggage=dag_id%3Ddaily%2Ctask_id%3Dload", "x=1", f"traceparent=00-{OTHER}-{SPAN}"]
    words = [sys.executable, str(OPERATIONS), str(folder), request.param, *parameters]
    command = shared.or_skip(isolated.command, words) if request.param == spark.SPARK_3 else words
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-4000:]
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert result["printed"] == [["10"]] * 3
    return result["spans"], result["metrics"]


def named(spans: List[Dict[str, Any]], kind: str) -> List[Dict[str, Any]]:
    return [span for span in spans if span["name"].split()[0] == kind]


def test_operations_are_in_the_clients_trace(sent: Tuple[List[Dict[str, Any]], List[Dict[str, Any]]]) -> None:
    spans, _ = sent
    own = [span for span in spans if span["traceId"] == TRACE]
    assert {span["name"].split()[0] for span in own} >= {"sql", "job", "stage", "task"}
    assert [span["parentSpanId"] for span in named(own, "sql")] == [SPAN]
    ids = {span["spanId"] for span in own}
    assert all(span["parentSpanId"] in ids for span in own if span["name"].split()[0] != "sql")
    attributes = {one["key"]: one["value"] for one in named(own, "sql")[0]["attributes"]}
    assert attributes["airflow.dag_id"]["stringValue"] == "daily" and attributes["airflow.task_id"]["stringValue"] == "load"


def test_others_stay_in_the_applications_trace(sent: Tuple[List[Dict[str, Any]], List[Dict[str, Any]]]) -> None:
    spans, _ = sent
    (root,) = named(spans, "application")
    rest = [span for span in spans if span["traceId"] != TRACE]
    assert {span["traceId"] for span in rest} == {root["traceId"]}
    assert len(named(rest, "sql")) == 2


def test_submission_and_malformed_contexts_are_counted(sent: Tuple[List[Dict[str, Any]], List[Dict[str, Any]]]) -> None:
    _, metrics = sent
    last = {metric["name"]: (metric.get("gauge") or metric.get("sum") or metric["histogram"])["dataPoints"][-1] for metric in metrics}
    assert 0 < last["spark_submit_seconds"]["asDouble"] < 60
    assert last["spark_trace_contexts_malformed_total"]["asDouble"] == 1
