#!/usr/bin/env python3
"""Says what `pyrometer diagnose --format json` has to say about a log, computed a second time and the slow way.

    python3 tests/oracle/oracle.py LOG

It follows docs/formulas.md and shares nothing with the C sources; where the two differ, one of them is wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent))

from accounts import Accounts  # noqa: E402
from application import Application, Stage, Task, is_known, read_application  # noqa: E402
from known_events import KNOWN_EVENTS  # noqa: E402
from logfiles import Log, find_logs  # noqa: E402

__all__ = ["KNOWN_EVENTS", "find_logs", "report_of", "reports_of"]


def sums(tasks: List[Task]) -> Dict[str, int]:
    return {
        "run_ms": sum(task.run_ms for task in tasks),
        "cpu_ms": sum(task.cpu_ns for task in tasks) // 10**6,
        "gc_ms": sum(task.gc_ms for task in tasks),
        "input_bytes": sum(task.input_bytes for task in tasks),
        "output_bytes": sum(task.output_bytes for task in tasks),
        "shuffle_read_bytes": sum(task.shuffle_read_bytes for task in tasks),
        "shuffle_write_bytes": sum(task.shuffle_write_bytes for task in tasks),
        "memory_spill_bytes": sum(task.memory_spill_bytes for task in tasks),
        "disk_spill_bytes": sum(task.disk_spill_bytes for task in tasks),
    }


def counts(tasks: List[Task]) -> Dict[str, int]:
    return {
        "tasks": len(tasks),
        "failed_tasks": sum(task.failed and not task.resubmitted for task in tasks),
        "killed_tasks": sum(task.killed and not task.resubmitted for task in tasks),
    }


def status_of(stage: Stage) -> Optional[str]:
    if stage.failure is not None:
        return "failed"
    if stage.completed_seen:
        return "succeeded"
    return "running" if stage.ran else None


def stage_rows(app: Application, accounts: Accounts) -> List[Dict[str, Any]]:
    tasks_of: Dict[Any, List[Task]] = {}
    for task in app.tasks:
        tasks_of.setdefault(task.stage, []).append(task)
    for key in tasks_of:
        app.stage(key)  # of which nothing else may be left
    owners = accounts.stage_owners()
    rows = []
    for key, stage in sorted(app.stages.items()):
        tasks = tasks_of.get(key, [])
        job = owners.get(stage.id)
        rows.append(
            {
                "id": stage.id,
                "attempt": stage.attempt,
                "name": stage.name,
                "job": job,
                "sql": app.jobs[job].sql if job is not None else None,
                "status": status_of(stage),
                "submitted_ms": stage.submitted,
                "completed_ms": stage.completed,
                **counts(tasks),
                **sums(tasks),
                "task_ms": sum(task.duration for task in tasks if not task.resubmitted),
                "duration_ms": accounts.durations_of(tasks),
            }
        )
    return rows


def executor_rows(app: Application, accounts: Accounts) -> List[Dict[str, Any]]:
    rows = []
    for executor in app.executors.values():
        tasks = [task for task in accounts.runs if task.executor == executor.id and not task.resubmitted]
        rows.append(
            {
                "id": executor.id,
                "host": executor.host,
                "cores": executor.cores,
                "added_ms": executor.added,
                "removed_ms": executor.removed,
                "remove_reason": executor.remove_reason,
                "busy_ms": sum(task.duration for task in tasks),
                "gc_ms": sum(task.gc_ms for task in tasks),
            }
        )
    return rows


def report(app: Application) -> Dict[str, Any]:
    accounts = Accounts(app)
    wall = accounts.wall()
    driver_ms = sum(part["ms"] for part in wall["parts"] if part["name"] in ("driver", "resource_wait"))
    return {
        "application": {
            "id": app.id_or_property,
            "name": app.name_or_property,
            "attempt": app.attempt,
            "user": app.user,
            "spark_version": app.spark_version,
            "master": app.properties.get("spark.master"),
            "start_ms": app.start,
            "end_ms": app.end,
            "duration_ms": None if app.start is None or app.end is None else max(0, app.end - app.start),
        },
        "integrity": {
            "bytes": app.bytes,
            "lines": app.lines,
            "events": dict(sorted(app.events.items())),
            "unknown_events": {name: count for name, count in sorted(app.events.items()) if not is_known(name)},
            "bad_lines": app.bad_lines,
            "repeated_events": app.repeated_events,
            "tasks_started": app.events["SparkListenerTaskStart"],
            "tasks_ended": app.events["SparkListenerTaskEnd"],
        },
        "totals": {
            "jobs": app.events["SparkListenerJobStart"],
            "failed_jobs": app.failed_jobs,
            "stages": app.events["SparkListenerStageSubmitted"],
            "failed_stages": app.failed_stages,
            **counts(app.tasks),
            "executors": len(app.executors),
            "cores_peak": accounts.cores_peak(),
            "sql_executions": app.events["org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"],
            **sums(app.tasks),
        },
        "accounting": {"wall": wall, "core": accounts.core(), "phases": accounts.phases()},
        "bounds": accounts.bounds(driver_ms),
        "stages": stage_rows(app, accounts),
        "executors": executor_rows(app, accounts),
    }


def report_of(log: Log) -> Dict[str, Any]:
    return report(read_application(log))


def reports_of(path: Path) -> List[Dict[str, Any]]:
    return [report_of(log) for log in find_logs(path)]


def main(arguments: List[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    reports = reports_of(Path(arguments[0]))
    json.dump(reports[0] if len(reports) == 1 else reports, sys.stdout, indent=2)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
