"""Numbers of an event log about where, when and how tasks ran; no code of Pyrometer."""

from __future__ import annotations

import statistics
from typing import Any

Event = dict[str, Any]
Stages = dict[tuple[int, int], list[Event]]


def duration_ms(task: Event) -> int:
    """Return the duration of a task."""
    return task["Task Info"]["Finish Time"] - task["Task Info"]["Launch Time"]


def warm(stages: Stages) -> list[Event]:
    """Return the successful tasks without the first two of each executor."""
    tasks = sorted((t for s in stages.values() for t in s), key=lambda t: t["Task Info"]["Launch Time"])
    seen: dict[str, int] = {}
    kept = []
    for task in tasks:
        executor = task["Task Info"]["Executor ID"]
        seen[executor] = seen.get(executor, 0) + 1
        if seen[executor] > 2 and task["Task End Reason"]["Reason"] == "Success":
            kept.append(task)
    return kept


def delay_ms(task: Event) -> int:
    """Return the scheduler delay as Spark's UI has it."""
    info, metrics = task["Task Info"], task["Task Metrics"]
    getting = info["Finish Time"] - info["Getting Result Time"] if info["Getting Result Time"] else 0
    known = metrics["Executor Run Time"] + metrics["Executor Deserialize Time"]
    return max(0, duration_ms(task) - known - metrics["Result Serialization Time"] - getting)


def overhead_ms(task: Event) -> int:
    """Return the time of deserializing a task and serializing its result."""
    metrics = task["Task Metrics"]
    return metrics["Executor Deserialize Time"] + metrics["Result Serialization Time"]


def slowest_host(stages: Stages) -> float:
    """Return how many times the median task of other hosts one takes, as the median over stages of five a host."""
    ratios: dict[str, list[float]] = {}
    for tasks in stages.values():
        hosts: dict[str, list[int]] = {}
        for task in tasks:
            hosts.setdefault(task["Task Info"]["Host"], []).append(duration_ms(task))
        hosts = {host: times for host, times in hosts.items() if len(times) >= 3}
        for host, times in hosts.items():
            others = [time for other, more in hosts.items() if other != host for time in more]
            if others:
                ratio = statistics.median(times) / max(1, statistics.median(others))
                ratios.setdefault(host, []).append(ratio)
    return round(max((statistics.median(r) for r in ratios.values()), default=1.0), 2)


def numbers(stages: Stages) -> dict[str, Any]:
    """Return the key numbers."""
    tasks = warm(stages)
    every = [t for s in stages.values() for t in s]
    total = max(1, sum(map(duration_ms, tasks)))
    copies = [t for t in every if t["Task Info"]["Speculative"]]
    lost = [t for t in copies if t["Task End Reason"]["Reason"] != "Success"]
    metrics = [t["Task Metrics"] for t in tasks]
    fetch = sum(m["Shuffle Read Metrics"]["Fetch Wait Time"] for m in metrics)
    write = sum(m["Shuffle Write Metrics"]["Shuffle Write Time"] for m in metrics) / 1e6
    localities: dict[str, int] = {}
    for task in every:
        name = task["Task Info"]["Locality"]
        localities[name] = localities.get(name, 0) + 1
    return {
        "slowest_host_ratio": slowest_host(stages),
        "fetch_wait_share": round(fetch / total, 3),
        "shuffle_write_share": round(write / total, 3),
        "scheduler_delay_share": round(sum(map(delay_ms, tasks)) / total, 3),
        "task_overhead_share": round(sum(map(overhead_ms, tasks)) / total, 3),
        "speculative_tasks": len(copies),
        "lost_speculation_share": round(
            sum(map(duration_ms, lost)) / max(1, sum(map(duration_ms, every))), 3
        ),
        "localities": dict(sorted(localities.items())),
        "busiest_executor_share": busiest_share(every),
    }


def busiest_share(tasks: list[Event]) -> float:
    """Return the share of all task time that one executor has."""
    busy: dict[str, int] = {}
    for task in tasks:
        executor = task["Task Info"]["Executor ID"]
        busy[executor] = busy.get(executor, 0) + duration_ms(task)
    return round(max(busy.values(), default=0) / max(1, sum(busy.values())), 3)
