"""A client's trace context reaches the spans of its operations: stock PySpark, a real Connect server, a real collector."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from servers import collector, connect, plugin, shared, spark

CLIENT = Path(__file__).parent / "jobs" / "client.py"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
OTHER = "0af7651916cd43dd8448eb211c80319c"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Tuple[List[Dict[str, Any]], List[Dict[str, Any]]]:
    """Spans and metrics of a server with three clients: one with a trace and baggage, one with none, one with a wrong one."""
    shared.home_or_skip(spark.SPARK_4)
    shared.or_skip(plugin.jar)
    with shared.or_skip(collector.Collector) as server:
        conf = {"spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{server.grpc}",
                "spark.pyrometer.otel.metricsInterval": "1s"}
        with shared.or_skip(connect.Connect, tmp_path_factory.mktemp("connect"), conf) as spark_server:
            for parameters in (f"traceparent=00-{TRACE}-{SPAN}-01;baggage=dag_id%3Ddaily%2Ctask_id%3Dload", "x=1",
                               f"traceparent=00-{OTHER}-{SPAN}"):
                assert spark_server.run(CLIENT, parameters).split() == ["10"]
        return server.rows("resourceSpans"), server.rows("resourceMetrics")


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
