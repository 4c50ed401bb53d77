"""What the plugin sends to a real collector, compared with the event log's own spans and metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import run_command
from servers import collector, plugin, shared, spark
from servers.watched import Sent

JOB = Path(__file__).parent / "jobs" / "little.py"
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


def value(wrapped: Dict[str, Any]) -> Any:
    ((kind, inner),) = wrapped.items()
    return int(inner) if kind == "intValue" else inner


def attributes(row: Dict[str, Any], key: str = "attributes") -> Dict[str, Any]:
    return {one["key"]: value(one["value"]) for one in row.get(key, [])}


def exported(binary: str, log: Path) -> List[Dict[str, Any]]:
    run = run_command([binary, "export", str(log), "--to", "otlp"])
    assert run.exit == 0, run.explain()
    found = []
    for line in run.out.splitlines():
        for resource in json.loads(line).get("resourceSpans", []):
            found += resource["scopeSpans"][0]["spans"]
    return found


def test_spans_are_those_of_the_event_log(sent: Sent, binary: str) -> None:
    """The same ids, parents and times. Only the plugin knows when commits began."""
    wanted = {span["spanId"]: span for span in exported(binary, sent.run.log)}
    found = {span["spanId"]: span for span in sent.spans}
    assert len(found) == len(sent.spans)
    assert {span["name"] for key, span in found.items() if key not in wanted} <= {"commit"}
    assert set(wanted) <= set(found)
    for key, span in wanted.items():
        own = found[key]
        assert own["traceId"] == span["traceId"]
        assert own.get("parentSpanId", "") == span.get("parentSpanId", ""), span["name"]
        for time in ("startTimeUnixNano", "endTimeUnixNano"):
            assert abs(int(own[time]) - int(span[time])) <= 1_000_000_000 * (span["name"].startswith(("application", "executor"))) + 1_000_000, span["name"]


def test_no_span_lacks_its_parent(sent: Sent) -> None:
    ids = {span["spanId"] for span in sent.spans}
    assert all(span.get("parentSpanId", "") in ids | {""} for span in sent.spans)


def test_failures_are_records_of_their_span(sent: Sent) -> None:
    by_id = {span["spanId"]: span for span in sent.spans}
    failed = [event for event in sent.events if "task" in event["body"]["stringValue"]]
    assert failed
    for event in failed:
        assert by_id[event["spanId"]]["name"].startswith("task ") and by_id[event["spanId"]]["status"]["code"] == 2
        assert "planted failure" in attributes(event)["exception.message"]


def test_last_metrics_arrive(sent: Sent) -> None:
    """The last values are sent at the end, with the application's own labels."""
    last = {}
    for metric in sent.metrics:
        for point in (metric.get("gauge") or metric.get("sum") or metric["histogram"])["dataPoints"]:
            last[metric["name"], tuple(sorted(attributes(point).items()))] = point.get("asDouble", point.get("count"))
    assert last["spark_phase_io_write_seconds", ()] >= sent.run.value("spark_phase_io_write_seconds") > 0
    assert last["spark_tasks_total", (("state", "failed"),)] >= 1
    assert all(attributes(metric, "resource")["team"] == "data" for metric in sent.metrics)


def test_trace_of_a_submission(tmp_path: Path) -> None:
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    with shared.or_skip(collector.Collector) as server:
        conf = {"spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{server.grpc}",
                "spark.pyrometer.otel.samplingRatio": "0.0", "spark.master": "local[2]"}
        plugin.run(spark.SPARK_3, JOB, tmp_path / "run", conf, {"TRACEPARENT": PARENT})
        spans = server.rows("resourceSpans")
    assert {span["traceId"] for span in spans} == {PARENT.split("-")[1]}
    (root,) = [span for span in spans if span["name"].startswith("application")]
    assert root["parentSpanId"] == PARENT.split("-")[2]
    tasks = [span for span in spans if span["name"].startswith("task ")]
    assert any(span.get("status", {}).get("code") == 2 for span in tasks), "failed tasks are always sent"


def test_export_sends_what_the_plugin_sends(sent: Sent, binary: str) -> None:
    """`export --endpoint` to a real collector: the same spans, once, however often it is sent."""
    with shared.or_skip(collector.Collector) as server:
        for _ in range(2):
            run = run_command([binary, "export", str(sent.run.log), "--to", "otlp", "--endpoint", f"http://127.0.0.1:{server.http}/"])
            assert run.exit == 0 and run.out == b"", run.explain()
        spans, metrics = server.rows("resourceSpans"), server.rows("resourceMetrics")
        again = run_command([binary, "export", str(sent.run.log), "--to", "otlp", "--endpoint", f"http://127.0.0.1:{server.http}/no"])
    assert again.exit == 4 and b"404" in again.err
    assert {span["spanId"] for span in spans} == {span["spanId"] for span in exported(binary, sent.run.log)}
    assert len(spans) == 2 * len({span["spanId"] for span in spans}) and metrics
    gone = run_command([binary, "export", str(sent.run.log), "--to", "otlp", "--endpoint", "http://127.0.0.1:1"])
    assert gone.exit == 4 and len(gone.err.splitlines()) == 1


@pytest.fixture(scope="module", params=spark.VERSIONS)
def stream(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sent:
    """A run with streaming queries, and its spans."""
    shared.home_or_skip(request.param)
    shared.or_skip(plugin.jar)
    with shared.or_skip(collector.Collector) as server:
        conf = {"spark.master": "local[2]", "spark.pyrometer.otel.enabled": "true",
                "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{server.grpc}"}
        script = Path(__file__).parent / "jobs" / "stream.py"
        run = plugin.run(request.param, script, tmp_path_factory.mktemp("stream") / "run", conf)
        return Sent(run, None, server.rows("resourceSpans"), server.rows("resourceLogs"), server.rows("resourceMetrics"))


def test_batches_are_those_of_the_event_log(stream: Sent, binary: str) -> None:
    """A batch is above the executions and jobs that Spark says are its own. What was under way at the end only the plugin knows."""
    wanted = {span["spanId"]: span for span in exported(binary, stream.run.log)}
    found = {span["spanId"]: span for span in stream.spans}
    batches = [key for key, span in wanted.items() if span["name"].startswith("batch ")]
    assert len(batches) >= 8 and set(wanted) <= set(found)
    open_at_end = {key for key, span in found.items() if key not in wanted and span["name"].startswith("batch ")}
    for key, span in wanted.items():
        own = found[key].get("parentSpanId", "")
        assert own == span.get("parentSpanId", "") or own in open_at_end, (span["name"], found[key])
    assert all(attributes(found[key])["spark.incomplete"] for key in open_at_end) and len(open_at_end) <= 2
    above = {span.get("parentSpanId") for span in found.values()}
    assert above & set(batches)
    assert all(span.get("parentSpanId", "") in set(found) | {""} for span in found.values())


def test_streaming_metrics_are_those_of_the_progress(stream: Sent) -> None:
    samples = {(s.name, s.labels["query"]): s.value for s in stream.run.samples if s.name.startswith("spark_streaming_")
               and "measure" not in s.labels}
    for query in ("counts", "groups"):
        assert samples["spark_streaming_batch_duration_seconds", query] > 0
        assert samples["spark_streaming_input_rows_per_second", query] >= 0
        assert samples["spark_streaming_processed_rows_per_second", query] >= 0
    assert samples["spark_streaming_state_rows", "counts"] > 0
    assert samples["spark_streaming_watermark_delay_seconds", "counts"] >= 0
    assert ("spark_streaming_state_rows", "groups") not in samples  # it has no state: absent, not 0
