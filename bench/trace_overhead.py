#!/usr/bin/env python3
"""Measure what `pyrometer trace record` costs an application: runs of 10,000 small tasks in each mode, in turns.

    python3 bench/trace_overhead.py [--rounds 5] [--tasks 10000] [--update-docs]

The seconds are those of the tasks, as the application measures them; bytes are those of the recording's folder without the event
log, by task. Converting the kernel's trace comes after the application, and is not part of it. The machine must be quiet. The table
is in docs/cli/trace.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[1]
for folder in ("tests", "tests/oracle", "corpus", "bench"):
    sys.path.insert(0, str(ROOT / folder))
os.environ.setdefault("PYROMETER_CACHE", str(ROOT / ".cache"))

import page_parts  # noqa: E402
from servers import plugin, spark  # noqa: E402

JOB = Path(__file__).with_name("plugin_job.py")
MODES: Dict[str, List[str]] = {
    "nothing": [],
    "user space": ["--mode", "user"],
    "slow tasks only": ["--slow", "60000"],
    "kernel, a tenth of the time": ["--mode", "kernel", "--duty", "1s/10s"],
    "kernel": ["--mode", "kernel"],
}
LIMIT_S = 1800
Row = Dict[str, Any]


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and "eventlog" not in path.parts)


def run(mode: str, tasks: int, master: str, pyrometer: Path) -> Row:
    """Return what one application found of itself, and what the recording takes."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        answer = folder / "answer.json"
        settings = {"spark.master": master, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
                    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "2g",
                    "spark.eventLog.enabled": "true", "spark.eventLog.dir": f"file://{folder}", "spark.jars": str(plugin.jar())}
        submit = [str(spark.home() / "bin" / "spark-submit")]
        for key, value in settings.items():
            submit += ["--conf", f"{key}={value}"]
        submit += [str(JOB), str(tasks), str(answer)]
        recorder = [str(pyrometer), "trace", "record", "-o", str(folder / "run"), "--plugin", str(plugin.jar()), *MODES[mode], "--"]
        began = time.monotonic()
        subprocess.run(recorder + submit if MODES[mode] else submit, check=True, capture_output=True, cwd=folder, timeout=LIMIT_S,
                       env=spark.spark_runs.spark_env(spark.venv()))
        row: Row = json.loads(answer.read_text(encoding="utf-8"))
        row["whole_s"] = time.monotonic() - began
        row["bytes"] = size_of(folder / "run") if MODES[mode] else 0
        state = json.loads((folder / "run" / "recording.json").read_text(encoding="utf-8")) if MODES[mode] else {}
        row["dropped"] = sum(state.get("dropped", {}).get(kind) or 0 for kind in ("kernel", "tasks", "ust"))
        return row


def middle(rows: List[Row], key: str) -> float:
    return float(statistics.median(row[key] for row in rows))


def line(mode: str, rows: List[Row], without: List[Row], tasks: int) -> str:
    seconds, used = middle(rows, "seconds"), middle(rows, "processor_s")
    return (
        f"| {mode} | {seconds:.2f} ({min(r['seconds'] for r in rows):.2f} to {max(r['seconds'] for r in rows):.2f}) "
        f"| {100 * (seconds / middle(without, 'seconds') - 1):+.1f} | {used:.2f} "
        f"| {100 * (used / middle(without, 'processor_s') - 1):+.1f} | {middle(rows, 'bytes') / tasks:,.0f} "
        f"| {max(r['dropped'] for r in rows):,} | {middle(rows, 'whole_s') - middle(without, 'whole_s'):+.0f} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=10000)
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--pyrometer", type=Path, default=ROOT / "build" / "pyrometer")
    parser.add_argument("--update-docs", action="store_true")
    arguments = parser.parse_args()
    rows: Dict[str, List[Row]] = {mode: [] for mode in MODES}
    for _ in range(arguments.rounds):
        for mode in MODES:
            rows[mode].append(run(mode, arguments.tasks, arguments.master, arguments.pyrometer))
            print(mode, json.dumps({key: rows[mode][-1][key] for key in ("seconds", "processor_s", "bytes", "dropped", "whole_s")}),
                  flush=True)
    lines = [
        "| recorded | seconds | difference % | processor s | difference % | bytes a task | dropped | seconds after the job |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(line(mode, rows[mode], rows["nothing"], arguments.tasks) for mode in MODES),
    ]
    print("\n".join(lines))
    if arguments.update_docs:
        page_parts.update(ROOT / "docs" / "cli" / "trace.md", "trace_overhead.py", {"overhead": lines})
    return 0


if __name__ == "__main__":
    sys.exit(main())
