"""Spot's aggregates of one attempt, from the answers of a History Server's REST API: allexecutors, stages, the attempt.

Written from docs/store.md in plain Python, over whatever columns the JSON has; names are Spot's without its prefixes.
"""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

BLOCK = 128 * 1024 * 1024
GIB = 1024**3
HOUR_MS = 3600000.0
TIMES = {"submissionTime", "firstTaskLaunchedTime", "completionTime", "addTime", "removeTime", "startTime", "stopTime"}

Row = Dict[str, Any]
Numbers = Dict[str, float]


def epoch_ms(text: str) -> int:
    """Of "2026-11-21T06:12:45.123GMT"."""
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fGMT").replace(tzinfo=timezone.utc)
    return round((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds() * 1000)


def flatten(row: Row, prefix: str = "") -> Iterator[Tuple[str, Any]]:
    """Members of nested objects under names with dots."""
    for key, value in row.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        elif not prefix and key in TIMES and isinstance(value, str):
            yield key, epoch_ms(value)
        else:
            yield prefix + key, value


# ---- What is derived of a row -------------------------------------------------------------------------------------


def executor_row(executor: Row, attempt: Row) -> Row:
    row = dict(flatten({key: value for key, value in executor.items() if key != "executorLogs"}))
    row["startTime"] = row.get("addTime", epoch_ms(attempt["startTime"]))
    row["stopTime"] = row.get("removeTime", epoch_ms(attempt["endTime"]))
    life = row["stopTime"] - row["startTime"]
    row["durationMilliseconds"] = life
    row["durationHours"] = life / HOUR_MS
    row["coreCost"] = row["totalCores"] * life
    row["coreCost_hours"] = row["totalCores"] * life / HOUR_MS
    row["storageCost"] = row["maxMemory"] / GIB * life
    row["storageCost_GbHours"] = row["maxMemory"] / GIB * life / HOUR_MS
    return row


def stage_row(stage: Row) -> Row:
    row = dict(flatten({key: value for key, value in stage.items() if key != "tasks"}))
    row.update({"scheduling_overhead": 0, "duration": 0, "throughput_bytes": -1, "throughput_records": -1})
    if "completionTime" in row and "firstTaskLaunchedTime" in row:
        duration = row["completionTime"] - row["firstTaskLaunchedTime"]
        row["scheduling_overhead"] = row["firstTaskLaunchedTime"] - row["submissionTime"]
        row["duration"] = duration
        row["throughput_bytes"] = row["inputBytes"] / duration if duration else None
        row["throughput_records"] = row["inputRecords"] / duration if duration else None
    row["executorCpuTime_ms"] = row["executorCpuTime"] / 1e6
    if row["numCompleteTasks"]:
        for what in ("input", "output"):
            average = row[f"{what}Bytes"] / row["numCompleteTasks"]
            row[f"average_task_{what}_bytes"] = row[f"average_task_{what}"] = average
    return row


# ---- Columns ------------------------------------------------------------------------------------------------------


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number(values: Sequence[float]) -> Dict[str, Optional[float]]:
    total = math.fsum(values)
    mean = total / len(values) if values else None
    spread = math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1)) if mean is not None and len(values) > 1 else None
    return {
        "min": min(values, default=None),
        "max": max(values, default=None),
        "sum": total,
        "mean": mean,
        "std": spread,
        "nunique": len(set(values)),
        "count_zeroes": sum(one == 0 for one in values),
        "count_nonzero": sum(one != 0 for one in values),
        "count_not_null": len(values),
    }


def column(name: str, values: Sequence[Any]) -> Dict[str, Optional[float]]:
    if name in TIMES:
        return {"min": min(values, default=None), "max": max(values, default=None)}
    if values and all(isinstance(one, bool) for one in values):
        return {"any": any(values), "all": all(values), "sum": sum(values)}
    return number(values)


def table(rows: Sequence[Row], columns_of: Sequence[Row]) -> Numbers:
    """Aggregates over rows; a column exists if any row of `columns_of` has it."""
    result: Numbers = {"elements_count": len(rows)}
    if not rows:
        return result
    for name in dict.fromkeys(key for row in columns_of for key in row):
        known = [row[name] for row in columns_of if row.get(name) is not None]
        if not known or not all(is_number(one) or isinstance(one, bool) for one in known):
            continue  # texts, lists
        for aggregate, value in column(name, [row[name] for row in rows if row.get(name) is not None]).items():
            if value is not None:
                result[f"{name}.{aggregate}"] = float(value)
    return result


# ---- Summary ------------------------------------------------------------------------------------------------------


def union(stages: Sequence[Row]) -> Tuple[float, bool]:
    """Time in which at least one stage ran, and whether two ran at once."""
    ran = [row for row in stages if "firstTaskLaunchedTime" in row and "completionTime" in row]
    total, overlap = 0.0, False
    open_from = open_to = None
    for row in sorted(ran, key=lambda one: one["firstTaskLaunchedTime"]):
        begin, end = row["firstTaskLaunchedTime"], row["completionTime"]
        if open_to is not None and begin < open_to:
            overlap, open_to = True, max(open_to, end)
            continue
        total += open_to - open_from if open_to is not None else 0
        open_from, open_to = begin, end
    return total + (open_to - open_from if open_to is not None else 0), overlap


def summary(attempt: Row, executors: Sequence[Row], stages: Sequence[Row]) -> Numbers:
    begins = [row["firstTaskLaunchedTime"] for row in stages if "firstTaskLaunchedTime" in row]
    ends = [row["completionTime"] for row in stages if "completionTime" in row]
    if not executors or not begins or not ends:
        return {}
    work = sum(row["totalDuration"] for row in executors)
    cost = sum(row["coreCost"] for row in executors)
    memory = sum(row["maxMemory"] for row in executors)
    most_input = max(row["inputBytes"] for row in stages)
    most_output = max(row["outputBytes"] for row in stages)
    parallel, overlap = union(stages)
    duration = attempt["duration"]
    blocks = math.ceil(most_input / BLOCK)
    result: Numbers = {
        "parallel_work": work,
        "parallel_part": parallel,
        "seq_part": duration - parallel,
        "est_seq_time": duration - parallel + work,
        "core_cost": cost,
        "stages_in_parallel": overlap,
        "stages_sum": sum(row["duration"] for row in stages),
        "stages_interval": max(ends) - min(begins),
        "stages_max_input_blocks": blocks,
        "executors_total_input_blocks": math.ceil(sum(row["totalInputBytes"] for row in executors) / BLOCK),
        "unused_storage_memory": memory - most_input,
    }
    if duration:
        result["estimated_speedup"] = (duration - parallel + work) / duration
        result["parallel_fraction"] = parallel / duration
        result["seq_fraction"] = (duration - parallel) / duration
        result["average_throughput"] = blocks / duration
    if cost:
        result["estimated_core_efficiency"] = work / cost
        result["unused_core_cost"] = cost - work
        result["unused_core_cost_hours"] = (cost - work) / HOUR_MS
    if memory:
        result["est_peak_memory_usage"] = most_input + most_output
        result["storage_memory_usage"] = (most_input + most_output) / memory
        result["unused_storage_memory_bytes"] = memory - (most_input + most_output)
    return result


def aggregates(attempt: Row, allexecutors: Sequence[Row], stages: Sequence[Row]) -> Numbers:
    executors = [executor_row(one, attempt) for one in allexecutors]
    others = [row for row in executors if row["id"] != "driver"]
    stage_rows = [stage_row(one) for one in stages]
    groups: List[Tuple[str, Numbers]] = [
        ("executors", table(others, executors)),
        ("stages", table(stage_rows, stage_rows)),
        ("summary", summary(attempt, others, stage_rows)),
    ]
    for row in executors:
        if row["id"] == "driver":
            groups.append(("driver", {key: value for key, value in row.items() if is_number(value) or isinstance(value, bool)}))
    return {f"{group}.{name}": float(value) for group, values in groups for name, value in values.items()}
