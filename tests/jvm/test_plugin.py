"""The plugin in real applications: its metrics are those of the event log, and it never harms the application."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, Dict

import pytest
from conftest import run_command
from servers import bad_collector, collector, plugin, shared, spark

JOB = Path(__file__).parent / "jobs" / "little.py"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


@pytest.fixture(scope="session")
def report(watched: plugin.Watched, binary: str) -> Dict[str, Any]:
    return run_command([binary, "diagnose", str(watched.log), "--format", "json"]).json


def test_phases_are_those_of_the_report(watched: plugin.Watched, report: Dict[str, Any]) -> None:
    wait, compute, write = plugin.phases(report)
    assert wait > 1 and compute > 0.5 and write > 0.1
    assert watched.value("spark_resource_wait_seconds") == pytest.approx(wait, abs=0.0011)
    assert watched.value("spark_phase_compute_seconds") == pytest.approx(compute, abs=0.0011)
    assert watched.value("spark_phase_io_write_seconds") == pytest.approx(write, abs=0.0011)


def test_sums_are_those_of_the_report(watched: plugin.Watched, report: Dict[str, Any]) -> None:
    totals = report["totals"]
    tasks = sum(s.value for s in watched.samples if s.name == "spark_tasks_total")
    assert tasks == totals["tasks"]
    assert watched.value("spark_tasks_total", state="failed") == totals["failed_tasks"] > 0
    for name, key in (("spark_gc_seconds_total", "gc_ms"), ("spark_task_run_seconds_total", "run_ms")):
        assert watched.value(name) == pytest.approx(totals[key] / 1000)
    for name, key in (("spark_shuffle_read_bytes_total", "shuffle_read_bytes"), ("spark_output_bytes_total", "output_bytes"),
                      ("spark_shuffle_write_bytes_total", "shuffle_write_bytes"), ("spark_input_bytes_total", "input_bytes")):
        assert watched.value(name) == totals[key]
    ended = totals["tasks"] - totals["failed_tasks"] - totals["killed_tasks"]
    assert sum(s.value for s in watched.samples if s.name == "spark_task_duration_seconds_count") == ended


def test_sums_are_those_of_the_tasks(watched: plugin.Watched, binary: str) -> None:
    statement = ("SELECT sum(deserialize_ms) / 1000.0 AS spark_task_deserialize_seconds_total, "
                 "sum(result_serialize_ms) / 1000.0 AS spark_task_serialize_seconds_total, "
                 "sum(fetch_wait_ms) / 1000.0 AS spark_shuffle_fetch_wait_seconds_total, "
                 "sum(memory_spill_bytes) AS spark_memory_spill_bytes_total, "
                 "sum(disk_spill_bytes) AS spark_disk_spill_bytes_total, sum(output_bytes) AS spark_output_bytes_total, "
                 "sum(run_ms) / 1000.0 AS spark_task_run_seconds_total, sum(gc_ms) / 1000.0 AS spark_gc_seconds_total FROM tasks")
    run = run_command([binary, "sql", str(watched.log), statement, "--format", "json"])
    assert run.exit == 0, run.explain()
    for name, value in run.json[0].items():
        assert watched.value(name) == pytest.approx(value, abs=1e-6), name
    peaks = [s.value for s in watched.samples if s.name == "spark_executor_peak_memory_bytes" and s.labels["kind"] == "heap"]
    assert len(peaks) <= 2 and all(1 << 20 < peak < 1 << 30 for peak in peaks)  # a short run may end before they are known
    for step in ("task", "job"):
        assert 0 <= watched.value("spark_commit_seconds", step=step) < 60


def test_series_are_few_and_named(watched: plugin.Watched) -> None:
    assert len(watched.samples) < 1000
    assert all(sample.labels["app_id"] == watched.result["id"] for sample in watched.samples)
    assert all(sample.labels["app_name"] == 'phases "of" a\\run' for sample in watched.samples)
    assert len({(s.name, tuple(sorted(s.labels.items()))) for s in watched.samples}) == len(watched.samples)


def test_no_name_is_one_of_sparks_own(watched: plugin.Watched) -> None:
    """Both may be scraped as one target."""
    own, executors = watched.result["servlet"]
    names = {line.split("{")[0] for text in (own, executors) for line in text.splitlines() if line and line[0] != "#"}
    assert len(names) > 100
    assert not names & {sample.name for sample in watched.samples}


def test_sparks_metrics_system_has_them(watched: plugin.Watched) -> None:
    """So that JMX and its other sinks do."""
    name = "plugin_io_pyrometer_spark_PyrometerPlugin_spark_resource_wait_seconds_Value"
    (line,) = [line for line in watched.result["servlet"][0].splitlines() if f"{name}{{" in line]
    assert float(line.rsplit(" ", 1)[1]) == watched.value("spark_resource_wait_seconds")


def test_endpoint_is_on_loopback(watched: plugin.Watched) -> None:
    assert watched.result["address"].startswith("http://127.0.0.1:")


def test_nothing_is_lost(watched: plugin.Watched) -> None:
    assert watched.value("spark_events_dropped_total", queue="pyrometer") == 0
    assert watched.value("spark_executors", state="running") == 2
    assert watched.value("spark_executors", state="pending") == 0


@pytest.mark.parametrize("key, value, said", [
    ("spark.pyrometer.otel.samplingRatio", "1.5", "a number from 0 to 1"),
    ("spark.pyrometer.otel.protocol", "udp", "grpc or http/protobuf"),
])
def test_wrong_settings_turn_it_off(key: str, value: str, said: str, tmp_path: Path) -> None:
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    run = plugin.run(spark.SPARK_3, JOB, tmp_path / "run", {key: value, "spark.master": "local[1]"})
    assert run.samples == []
    assert run.output.count(f"{key}={value}: expected {said}") == 1


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_collector_that_is_down_harms_nothing(protocol: str, tmp_path: Path) -> None:
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    conf = {"spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": "http://127.0.0.1:1",
            "spark.pyrometer.otel.protocol": protocol, "spark.master": "local[1]"}
    run = plugin.run(spark.SPARK_3, JOB, tmp_path / "run", conf)
    assert run.value("spark_telemetry_spans_total", state="exported") == 0
    ends = [json.loads(line) for line in run.log.read_text(encoding="utf-8").splitlines()[-1:]]
    assert ends[0]["Event"] == "SparkListenerApplicationEnd"


@pytest.mark.parametrize("kind, protocol", [("silent", "grpc"), ("nonsense", "grpc"), ("endless", "http/protobuf"),
                                            ("refusing", "http/protobuf")])
def test_collector_that_misbehaves_harms_nothing(kind: str, protocol: str, tmp_path: Path) -> None:
    """The application ends well, its end waits for two seconds at most, and metrics are still at the endpoint."""
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    with bad_collector.BadCollector(kind) as server:
        conf = {"spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{server.port}",
                "spark.pyrometer.otel.protocol": protocol, "spark.pyrometer.otel.metricsInterval": "1s", "spark.master": "local[1]"}
        run = plugin.run(spark.SPARK_3, JOB, tmp_path / "run", conf)
        assert server.connections
    if kind != "endless":  # it said 200 before
        assert run.value("spark_telemetry_spans_total", state="exported") == 0
    assert run.value("spark_events_dropped_total", queue="pyrometer") == 0
    assert run.result["stop_s"] < 15, run.output[-2000:]  # Spark's own end on a busy machine, too


def test_port_that_is_taken_leaves_the_rest_on(tmp_path: Path) -> None:
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    with socket.create_server(("127.0.0.1", 0)) as taken, shared.or_skip(collector.Collector) as server:
        conf = {"spark.pyrometer.metrics.port": str(taken.getsockname()[1]), "spark.master": "local[1]",
                "spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{server.grpc}"}
        run = plugin.run(spark.SPARK_3, JOB, tmp_path / "run", conf)
        assert "Choose another spark.pyrometer.metrics.port" in run.output
        assert any(span["name"].startswith("application ") for span in server.rows("resourceSpans"))


def test_java_management_extensions_have_the_metrics(tmp_path: Path) -> None:
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    conf = {"spark.master": "local[1]", "spark.metrics.conf.driver.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
            "spark.driver.extraJavaOptions": "--add-opens=java.management/com.sun.jmx.mbeanserver=ALL-UNNAMED"}
    run = plugin.run(spark.SPARK_3, JOB, tmp_path / "run", conf, {"TRACEPARENT": "00-malformed"})
    assert run.value("spark_trace_contexts_malformed_total") == 1  # and the application goes on
    prefix = "io.pyrometer.spark.PyrometerPlugin."
    found = {name.split(prefix, 1)[1]: number for name, number in run.result["jmx"].items()}
    assert found["spark_tasks_total.failed"] == run.value("spark_tasks_total", state="failed") == 1
    assert found["spark_executors.running"] == 1 and found["spark_phase_breakdown_ratio.compute"] > 0
    assert found["spark_resource_wait_seconds"] == pytest.approx(run.value("spark_resource_wait_seconds"), abs=0.001)
    assert found["spark_task_run_seconds_total"] > 0


def test_executors_on_demand_are_those_of_the_event_log(binary: str, tmp_path: Path) -> None:
    """With dynamic allocation each executor has been asked for: when, and when it came, is the same in both."""
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    conf = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "true",
            "spark.dynamicAllocation.minExecutors": "0", "spark.dynamicAllocation.initialExecutors": "0",
            "spark.dynamicAllocation.maxExecutors": "2"}
    with shared.or_skip(collector.Collector) as server:
        otel = {"spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{server.grpc}"}
        run = plugin.run(spark.SPARK_3, JOB, tmp_path / "run", {**conf, **otel})
        spans = server.rows("resourceSpans")
    found = {span["name"].split()[-1]: (int(span["startTimeUnixNano"]) // 10**6, int(span["endTimeUnixNano"]) // 10**6)
             for span in spans if span["name"].startswith("executor request ")}
    statement = "SELECT id, requested_ms, registered_ms FROM executors WHERE requested_ms IS NOT NULL"
    rows = run_command([binary, "sql", str(run.log), statement, "--format", "json"]).json
    assert rows and found == {row["id"]: (row["requested_ms"], row["registered_ms"]) for row in rows}
    report = run_command([binary, "diagnose", str(run.log), "--format", "json"]).json
    assert run.value("spark_resource_wait_seconds") == pytest.approx(report["accounting"]["phases"]["wait_ms"] / 1000, abs=0.0011)
