"""Key numbers of an event log, to prove a planted fault before it is labeled.

Deliberately simple and independent of Pyrometer's own code: it reads each line
as JSON and adds up what Spark itself wrote.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import scheduling
from measure_cache import CacheNumbers
from measure_streams import StreamNumbers
from measure_plans import Plans

Event = dict[str, Any]
Span = tuple[int, int]


def read_events(path: Path) -> Iterator[Event]:
    """Yield the events of a plain or zstd-compressed log."""
    if path.suffix == ".zst":
        data = subprocess.run(["zstd", "-dc", str(path)], check=True, capture_output=True).stdout
    else:
        data = path.read_bytes()
    for line in data.splitlines():
        yield json.loads(line)


def union_ms(spans: Iterable[Span]) -> int:
    """Return the length of the union of time spans."""
    total, end = 0, 0
    for start, stop in sorted(spans):
        start = max(start, end)
        if stop > start:
            total += stop - start
            end = stop
    return total


def read_bytes(metrics: Event) -> int:
    """Return what a task read: shuffle blocks, near and far, and input."""
    shuffle = metrics["Shuffle Read Metrics"]
    return (
        shuffle["Remote Bytes Read"]
        + shuffle["Local Bytes Read"]
        + metrics["Input Metrics"]["Bytes Read"]
    )


def metric_names(plan: Event, names: dict[int, str]) -> None:
    """Collect accumulator id -> name from a SQL plan."""
    for metric in plan.get("metrics", []):
        names[metric["accumulatorId"]] = metric["name"]
    for child in plan.get("children", []):
        metric_names(child, names)


def operators(plan: Event) -> Iterator[str]:
    """Yield the operator names of a SQL plan."""
    yield plan["nodeName"]
    for child in plan.get("children", []):
        yield from operators(child)


class Measured:
    """Sums over one log, filled event by event."""

    def __init__(self) -> None:
        self.version = ""
        self.start = self.end = 0
        self.stages: dict[tuple[int, int], list[Event]] = {}
        self.spans: list[Span] = []
        self.added: dict[str, tuple[int, int]] = {}
        self.removed: dict[str, int] = {}
        self.reasons: dict[str, int] = {}
        self.failed_jobs = 0
        self.heap_peak = self.driver_heap_peak = self.full_collections = 0
        self.given_back = self.refused = self.driver_exhausted = self.attempts_more = 0
        self.names: dict[int, str] = {}
        self.driver: dict[str, int] = {}
        self.cache = CacheNumbers()
        self.streams = StreamNumbers()
        self.operators: dict[int, list[str]] = {}
        self.python_bytes = 0
        self.plans = Plans()

    def feed(self, event: Event) -> None:
        """Take in one event."""
        self.plans.feed(event)
        kind = event["Event"].rsplit(".", 1)[-1]
        self.cache.feed(kind, event)
        self.streams.feed(kind, event)
        if kind == "SparkListenerLogStart":
            self.version = event["Spark Version"]
        elif kind == "SparkListenerApplicationStart":
            self.start = event["Timestamp"]
        elif kind == "SparkListenerApplicationEnd":
            self.end = event["Timestamp"]
        elif kind == "SparkListenerExecutorAdded":
            cores = event["Executor Info"]["Total Cores"]
            self.added[event["Executor ID"]] = (event["Timestamp"], cores)
        elif kind == "SparkListenerExecutorRemoved":
            self.removed[event["Executor ID"]] = event["Timestamp"]
            self.given_back += "killed by driver" in event["Removed Reason"]
        elif kind == "SparkListenerStageCompleted":
            info = event["Stage Info"]
            self.attempts_more += info["Stage Attempt ID"] > 0
            if "Submission Time" in info and "Completion Time" in info:
                self.spans.append((info["Submission Time"], info["Completion Time"]))
            for total in info["Accumulables"]:
                if total["Name"] == "data sent to Python workers":
                    self.python_bytes += int(total["Value"])
        elif kind == "SparkListenerTaskEnd":
            self.stages.setdefault((event["Stage ID"], event["Stage Attempt ID"]), []).append(event)
            reason = event["Task End Reason"]["Reason"]
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
        elif kind == "SparkListenerStageExecutorMetrics":
            self.feed_peaks(event["Executor ID"], event["Executor Metrics"])
        elif kind == "SparkListenerJobEnd":
            self.failed_jobs += event["Job Result"]["Result"] != "JobSucceeded"
            why = event["Job Result"].get("Exception", {}).get("Message", "")
            self.refused += "is bigger than spark.driver.maxResultSize" in why
        elif kind == "SparkListenerSQLExecutionEnd":
            self.driver_exhausted += "Java heap space" in (event.get("errorMessage") or "")
        elif "sparkPlanInfo" in event:
            metric_names(event["sparkPlanInfo"], self.names)
            self.operators[event["executionId"]] = list(operators(event["sparkPlanInfo"]))
        elif kind == "SparkListenerDriverAccumUpdates":
            for ident, value in event["accumUpdates"]:
                name = self.names.get(ident, "")
                self.driver[name] = self.driver.get(name, 0) + value

    def feed_peaks(self, executor: str, peaks: Event) -> None:
        """Take in what one executor, or the driver, needed during a stage."""
        if executor == "driver":
            self.driver_heap_peak = max(self.driver_heap_peak, peaks["JVMHeapMemory"])
            return
        self.heap_peak = max(self.heap_peak, peaks["JVMHeapMemory"])
        self.full_collections = max(self.full_collections, peaks["MajorGCCount"])

    def heap_exhausted(self) -> int:
        """Count failed tasks that name a full heap, or an executor that ended of one (code 52)."""
        return sum(
            "OutOfMemoryError" in text or "exit code 52" in text or "with code 52" in text
            for text in (json.dumps(t["Task End Reason"]) for t in self.tasks())
        )

    def tasks(self) -> list[Event]:
        """Return all TaskEnd events."""
        return [t for tasks in self.stages.values() for t in tasks]

    def sum(self, *path: str) -> int:
        """Add up one number of the task metrics over all tasks."""
        total = 0
        for task in self.tasks():
            value: Any = task.get("Task Metrics") or {}
            for key in path:
                value = value.get(key, {})
            total += value or 0
        return total

    def lives(self) -> list[tuple[int, int, int]]:
        """Return (from, to, cores) of each executor."""
        end = self.end
        return [(t, self.removed.get(e, end), c) for e, (t, c) in self.added.items()]

    def summary(self) -> dict[str, Any]:
        """Return the key numbers."""
        duration = max(1, self.end - self.start)
        lives = self.lives()
        alive = union_ms((a, b) for a, b, _ in lives)
        first = min((a for a, _, _ in lives), default=self.end)
        active = [(max(a, first), b) for a, b in self.spans if b > first]
        run_ms = self.sum("Executor Run Time")
        slot_ms = sum(
            c * union_ms((max(a, s), min(b, e)) for s, e in self.spans) for a, b, c in lives
        )
        return {
            "spark_version": self.version,
            "duration_ms": duration,
            "first_executor_ms": first - self.start,
            "no_executor_share": round(1 - alive / duration, 3),
            "driver_share": round((self.end - first - union_ms(active)) / duration, 3),
            "slots_busy_share": round(self.task_ms() / slot_ms, 3) if slot_ms else None,
            "tasks": len(self.tasks()),
            "median_task_ms": statistics.median(map(duration_ms, self.tasks())),
            "failed_jobs": self.failed_jobs,
            "task_end_reasons": self.reasons,
            "executors_added": len(self.added),
            "executors_lost_early": sum(self.end - t > 2000 for t in self.removed.values()),
            "executors_given_back": self.given_back,
            "stage_attempts_more": self.attempts_more,
            "heap_exhausted": self.heap_exhausted(),
            "results_refused": self.refused,
            "driver_out_of_memory": self.driver_exhausted,
            "result_bytes": self.sum("Result Size"),
            "driver_heap_peak_bytes": self.driver_heap_peak,
            "full_collections": self.full_collections,
            "gc_share": round(self.sum("JVM GC Time") / max(1, run_ms), 3),
            "cpu_share": round(self.sum("Executor CPU Time") / 1e6 / max(1, run_ms), 3),
            "disk_spill_bytes": self.sum("Disk Bytes Spilled"),
            "input_bytes": self.sum("Input Metrics", "Bytes Read"),
            "shuffle_read_bytes": self.sum("Shuffle Read Metrics", "Local Bytes Read")
            + self.sum("Shuffle Read Metrics", "Remote Bytes Read"),
            "output_bytes": self.sum("Output Metrics", "Bytes Written"),
            "executor_heap_peak_bytes": self.heap_peak,
            "size_of_files_read": self.driver.get("size of files read", 0),
            "shuffle_write_bytes": self.sum("Shuffle Write Metrics", "Shuffle Bytes Written"),
            "files_read": self.driver.get("number of files read", 0),
            "cache": self.cache.summary(),
            "streams": self.streams.summary(),
            "files_written": self.driver.get("number of written files", 0),
            "job_commit_ms": self.driver.get("job commit time", 0),
            "run_ms": run_ms,
            "python_bytes": self.python_bytes,
            "scans": self.counted("Scan "),
            "operators": self.counted("BatchEvalPython", "ArrowEvalPython", "Window"),
            "longest_stage": self.longest_stage(),
            **scheduling.numbers(self.stages),
            "plans": self.plans.summary(),
        }

    def counted(self, *prefixes: str) -> dict[str, int]:
        """Return how often operators with these names are in the newest plans, scans by their format."""
        found: dict[str, int] = {}
        for name in (name for names in self.operators.values() for name in names):
            if name.startswith(prefixes):
                key = name.split()[1] if name.startswith("Scan ") else name.split()[0]
                found[key] = found.get(key, 0) + 1
        return dict(sorted(found.items()))

    def task_ms(self) -> int:
        """Return the summed duration of all tasks."""
        return sum(map(duration_ms, self.tasks()))

    def longest_stage(self) -> dict[str, Any]:
        """Describe the stage attempt with the longest task and its widest spread."""
        key = max(self.stages, key=lambda k: max(map(duration_ms, self.stages[k])))
        tasks = self.stages[key]
        longest = max(tasks, key=duration_ms)
        good = [t["Task Metrics"] for t in tasks if t.get("Task Metrics")]
        sizes = sorted(map(read_bytes, good))
        return {
            "stage": key[0],
            "tasks": len(tasks),
            "median_ms": statistics.median(map(duration_ms, tasks)),
            "max_ms": duration_ms(longest),
            "median_read_bytes": statistics.median(sizes),
            "longest_task_read_bytes": read_bytes(longest["Task Metrics"])
            if longest.get("Task Metrics")
            else 0,
        }


def duration_ms(task: Event) -> int:
    """Return the duration of a task."""
    return task["Task Info"]["Finish Time"] - task["Task Info"]["Launch Time"]


def measure(path: Path) -> dict[str, Any]:
    """Return the key numbers of a log."""
    measured = Measured()
    for event in read_events(path):
        measured.feed(event)
    return measured.summary()
