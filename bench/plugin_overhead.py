#!/usr/bin/env python3
"""Measure what the Spark plugin costs an application: runs of tiny tasks with and without it, in turns.

    python3 bench/plugin_overhead.py [--rounds 5] [--tasks 1000 10000 100000] [--master local-cluster[2,1,1024]] [--update-docs]

Once with the metrics endpoint only, and once with spans of all tasks, events and metrics to a real collector on the same machine, too.
The machine must be quiet. The table is in docs/plugin.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[1]
for folder in ("tests", "tests/oracle", "corpus", "bench"):
    sys.path.insert(0, str(ROOT / folder))
os.environ.setdefault("PYROMETER_CACHE", str(ROOT / ".cache"))

import page_parts  # noqa: E402
import plugin_job  # noqa: E402
from servers import collector, plugin, spark  # noqa: E402

JOB = Path(__file__).with_name("plugin_job.py")
LIMIT_S = 3600
METRICS, SPANS = "metrics", "metrics and spans"
Row = Dict[str, Any]


def run(tasks: int, conf: Dict[str, str], master: str) -> Row:
    """Return what one application found of itself."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        settings = {
            "spark.master": master, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "2g",
            "spark.jars": str(plugin.jar()), **conf,  # also without the plugin: each task names the JARs it needs
        }
        command = [str(spark.home() / "bin" / "spark-submit")]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        subprocess.run([*command, str(JOB), str(tasks), str(answer)], check=True, capture_output=True, cwd=folder, timeout=LIMIT_S,
                       env=spark.spark_runs.spark_env(spark.venv()))
        result: Row = json.loads(answer.read_text(encoding="utf-8"))
        return result


def run_with_plugin(tasks: int, what: str, master: str) -> Row:
    conf = {"spark.plugins": plugin.PLUGIN, "spark.pyrometer.metrics.port": "0"}
    if what == METRICS:
        row = {**run(tasks, conf, master), "telemetry_bytes": 0, "collector_s": 0}
    else:
        with collector.Collector() as server:
            otel = {"spark.pyrometer.otel.enabled": "true", "spark.pyrometer.otel.endpoint": f"http://127.0.0.1:{server.grpc}"}
            row = {**run(tasks, {**conf, **otel}, master), "telemetry_bytes": server.received.stat().st_size}
            row["collector_s"] = plugin_job.processor_s(server.process.pid)
    samples = plugin.samples(row["metrics"])
    row["lag_s"] = max((s.value for s in samples if s.name == "spark_listener_queue_lag_seconds"), default=0)
    row["dropped_events"] = sum(s.value for s in samples if s.name == "spark_events_dropped_total")
    row["dropped_spans"] = sum(s.value for s in samples
                               if s.name == "spark_telemetry_spans_total" and s.labels["state"] == "dropped")
    return row


def middle(rows: List[Row], key: str) -> float:
    return float(statistics.median(row[key] for row in rows))


def line(tasks: int, what: str, without: List[Row], watched: List[Row]) -> str:
    before, after = middle(without, "seconds"), middle(watched, "seconds")
    used_before, used_after = middle(without, "processor_s"), middle(watched, "processor_s")
    heap = (middle(watched, "heap_bytes") - middle(without, "heap_bytes")) / 2**20
    return (
        f"| {tasks:,} | {what} | {before:.2f} ({min(r['seconds'] for r in without):.2f} to {max(r['seconds'] for r in without):.2f}) "
        f"| {after:.2f} ({min(r['seconds'] for r in watched):.2f} to {max(r['seconds'] for r in watched):.2f}) "
        f"| {100 * (after / before - 1):+.1f} | {used_before:.2f} | {used_after:.2f} | {100 * (used_after / used_before - 1):+.1f} "
        f"| {middle(watched, 'collector_s'):.2f} | {max(r['lag_s'] for r in watched):.2f} "
        f"| {max(r['dropped_events'] for r in watched):.0f} | {max(r['dropped_spans'] for r in watched):.0f} | {heap:+.0f} "
        f"| {middle(watched, 'telemetry_bytes') / 2**20:.1f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, nargs="+", default=[1000, 10000, 100000])
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--what", nargs="+", choices=(METRICS, SPANS), default=[METRICS, SPANS])
    parser.add_argument("--update-docs", action="store_true")
    arguments = parser.parse_args()
    lines = [
        "| tasks | what is on | without s | with s | difference % | processor s without | with | difference % | collector s | lag s "
        "| dropped events | dropped spans | driver heap MiB | telemetry MiB |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for tasks in arguments.tasks:
        for what in arguments.what:
            without, watched = [], []
            for _ in range(arguments.rounds):
                without.append(run(tasks, {}, arguments.master))
                watched.append(run_with_plugin(tasks, what, arguments.master))
            lines.append(line(tasks, what, without, watched))
            print(lines[-1], flush=True)
    if arguments.update_docs:
        page_parts.update(ROOT / "docs" / "plugin.md", "plugin_overhead.py", {"overhead": lines})
    return 0


if __name__ == "__main__":
    sys.exit(main())
