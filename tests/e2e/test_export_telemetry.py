"""`pyrometer export --to`: spans, events and metrics of an application for other tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from conftest import ROOT, corpus_logs, run_command, run_on_log
from wire import Message, read_message

CORPUS = ("data_skew", "executor_churn", "executor_lost", "healthy_stream", "job_failed_udf", "resource_wait", "stage_retries")
REQUESTS = ROOT / "corpus" / "loop" / "logs" / "blocks_released-before.zst"  # its log says when executors were asked for
pytestmark = pytest.mark.sanitize


def export(binary: str, log: Path, form: str) -> bytes:
    run = run_command([binary, "export", str(log), "--to", form])
    assert run.exit == 0, run.explain()
    return run.out


def value(wrapped: Dict[str, Any]) -> Any:
    ((kind, inner),) = wrapped.items()
    return int(inner) if kind == "intValue" else inner


def attributes(row: Dict[str, Any]) -> Dict[str, Any]:
    found = {one["key"]: value(one["value"]) for one in row["attributes"]}
    assert len(found) == len(row["attributes"])
    return found


def otlp(binary: str, log: Path) -> Tuple[List[Dict[str, Any]], List[Dict[str, Any]], List[Dict[str, Any]]]:
    """Spans, log records and metrics."""
    rows: Dict[str, List[Dict[str, Any]]] = {"spans": [], "logRecords": [], "metrics": []}
    for line in export(binary, log, "otlp").splitlines():
        ((resources,),) = json.loads(line).values()
        (scopes,) = [inner for key, inner in resources.items() if key.startswith("scope")]
        for key, inner in scopes[0].items():
            if key != "scope":
                rows[key] += inner
    return rows["spans"], rows["logRecords"], rows["metrics"]


@pytest.mark.parametrize("log", corpus_logs(CORPUS))
def test_spans_are_a_tree(log: Path, binary: str) -> None:
    spans, events, _ = otlp(binary, log)
    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans)
    assert len({span["traceId"] for span in spans}) == 1
    roots = [span for span in spans if "parentSpanId" not in span]
    assert [root["name"].split()[0] for root in roots] == ["application"]
    for span in spans:
        assert len(span["spanId"]) == 16 and len(span["traceId"]) == 32
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        assert span is roots[0] or span["parentSpanId"] in by_id
    for event in events:
        assert event["traceId"] == spans[0]["traceId"]
        assert "spanId" not in event or event["spanId"] in by_id or attributes(event)["spark.failure.kind"] == "task"


@pytest.mark.parametrize("log", corpus_logs(CORPUS))
def test_every_row_has_a_span(log: Path, binary: str) -> None:
    spans, _, _ = otlp(binary, log)
    report = run_on_log(log).json
    counts = Counter(span["name"].split()[0] for span in spans)
    totals = report["totals"]
    for kind in ("job", "stage"):
        assert counts[kind] == totals[f"{kind}s"]
    assert counts["sql"] == totals["sql_executions"]
    tasks = [attributes(span) for span in spans if span["name"].startswith("task ")]
    rows = run_command([binary, "sql", str(log), "SELECT id, executor, input_bytes FROM tasks WHERE status <> 'resubmitted'",
                        "--format", "json"]).json
    assert sorted(task["spark.task.id"] for task in tasks) == sorted(row["id"] for row in rows)
    read = {row["id"]: row["input_bytes"] for row in rows}
    assert all(task.get("spark.input.bytes", 0) == (read[task["spark.task.id"]] or 0) for task in tasks)
    failed = [span for span in spans if span["name"].startswith("task ") and span["status"]]
    assert len(failed) == totals["failed_tasks"]


@pytest.mark.parametrize("log", corpus_logs(CORPUS))
def test_metrics_are_those_of_the_report(log: Path, binary: str) -> None:
    _, _, metrics = otlp(binary, log)
    report = run_on_log(log).json
    found = {}
    for metric in metrics:
        (point,) = (metric.get("gauge") or metric["sum"])["dataPoints"]
        found[metric["name"], tuple(attributes(point).values())] = point["asDouble"]
    phases, totals = report["accounting"]["phases"], report["totals"]
    if totals["executors"]:
        assert found["spark_resource_wait_seconds", ()] == pytest.approx(phases["wait_ms"] / 1000)
    assert found["spark_phase_compute_seconds", ()] == pytest.approx(phases["compute_ms"] / 1000)
    assert found["spark_phase_io_write_seconds", ()] == pytest.approx(phases["write_ms"] / 1000)
    assert found["spark_tasks_total", ("failed",)] == totals["failed_tasks"]
    assert found["spark_gc_seconds_total", ()] == pytest.approx(totals["gc_ms"] / 1000)
    assert found["spark_input_bytes_total", ()] == totals["input_bytes"]
    assert found["spark_shuffle_read_bytes_total", ()] == totals["shuffle_read_bytes"]


@pytest.mark.parametrize("log", corpus_logs(CORPUS))
def test_openmetrics(log: Path, binary: str) -> None:
    lines = export(binary, log, "prometheus").decode().splitlines()
    assert lines[-1] == "# EOF"
    last: Dict[str, Tuple[float, float]] = {}
    done: List[str] = []
    for line in lines[:-1]:
        if line.startswith("# TYPE "):
            done.append(line.split()[2])
            continue
        if line.startswith("#"):
            continue
        series, number, time = line.rsplit(" ", 2)
        assert series.split("{")[0].replace("_total", "") == done[-1].replace("_total", ""), "samples of a family are together"
        before = last.get(series)
        assert before is None or (float(time) > before[0] and ("_total{" not in series or float(number) >= before[1]))
        last[series] = (float(time), float(number))
    assert len(done) == len(set(done))
    report = run_on_log(log).json
    (compute,) = [number for series, (_, number) in last.items() if series.startswith("spark_phase_compute_seconds{")]
    assert compute == pytest.approx(report["accounting"]["phases"]["compute_ms"] / 1000)


@pytest.mark.parametrize("log", corpus_logs(("data_skew", "healthy_stream")))
def test_prometheus_takes_it(log: Path, binary: str, tmp_path: Path) -> None:
    """Its own tool makes blocks of all samples."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is missing (Debian's package prometheus has it)")
    (tmp_path / "run.om").write_bytes(export(binary, log, "prometheus"))
    command = [promtool, "tsdb", "create-blocks-from", "openmetrics", "run.om", "data"]
    made = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    lines = [line for line in (tmp_path / "run.om").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    blocks = [json.loads(path.read_text(encoding="utf-8"))["stats"] for path in (tmp_path / "data").glob("*/meta.json")]
    assert sum(block["numSamples"] for block in blocks) == len(lines) > 0


@pytest.mark.parametrize("log", corpus_logs(("data_skew", "healthy_stream")))
def test_perfettos_own_classes_read_it(log: Path, binary: str) -> None:
    trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto's wheel has the classes")
    trace = trace_pb2.Trace()
    trace.ParseFromString(export(binary, log, "perfetto"))
    spans, _, _ = otlp(binary, log)
    begun = [packet for packet in trace.packet if packet.HasField("track_event") and packet.track_event.type == 1]
    ended = [packet for packet in trace.packet if packet.HasField("track_event") and packet.track_event.type == 2]
    assert len(begun) == len(ended) == len(spans)
    assert sorted(packet.timestamp for packet in begun) == sorted(int(span["startTimeUnixNano"]) for span in spans)
    tracks = {packet.track_descriptor.uuid for packet in trace.packet if packet.HasField("track_descriptor")}
    assert {packet.track_event.track_uuid for packet in begun} <= tracks


def packets(data: bytes) -> List[Message]:
    return [packet for field, packet in read_message(data) if field == 1]


@pytest.mark.parametrize("log", corpus_logs(CORPUS))
def test_perfetto_slices_nest(log: Path, binary: str) -> None:
    """Of each track: begin, end, begin, end, none before the one before it."""
    spans, _, _ = otlp(binary, log)
    open_slices: Dict[int, int] = {}
    ends: Dict[int, int] = {}
    tracks, begun = set(), 0
    for data in packets(export(binary, log, "perfetto")):
        packet = dict(read_message(data))
        if 60 in packet:
            tracks.add(dict(read_message(packet[60]))[1])
        if 11 not in packet:
            continue
        event = dict(read_message(packet[11]))
        track, time = event[11], packet[8]
        assert track in tracks
        if event[9] == 1:
            assert track not in open_slices and time >= ends.get(track, 0) and event[23]
            open_slices[track] = time
            begun += 1
        else:
            assert event[9] == 2 and time >= open_slices.pop(track)
            ends[track] = time
    assert not open_slices
    assert begun == len(spans)


def test_requests_for_executors_are_spans(binary: str) -> None:
    spans, _, _ = otlp(binary, REQUESTS)
    rows = run_command([binary, "sql", str(REQUESTS), "SELECT id, registered_ms - requested_ms AS took FROM executors "
                        "WHERE requested_ms IS NOT NULL", "--format", "json"]).json
    took = {span["name"]: (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) // 10**6 for span in spans}
    assert len(rows) >= 2
    assert all(took[f"executor request {row['id']}"] == row["took"] > 0 for row in rows)


def test_usage(binary: str, tmp_path: Path) -> None:
    log = str(REQUESTS)
    for words in ([], ["--to", "zipkin"], ["--to", "otlp", "--anonymized"]):
        assert run_command([binary, "export", log, *words]).exit == 2
    run = run_command([binary, "export", str(tmp_path / "none"), "--to", "otlp"])
    assert run.exit == 3 and run.out == b""
