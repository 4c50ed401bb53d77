"""What views must show, in plain Python over the rows of the store's SQL views. Shares no code with Pyrometer."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

Row = Dict[str, Any]
Keep = Callable[[Row], bool]


def nearest_rank(values: Sequence[float], percent: float) -> Optional[float]:
    ordered = sorted(values)
    return ordered[max(1, math.ceil(percent * len(ordered) / 100)) - 1] if ordered else None


class Fleet:
    """The runs, each with its aggregates, properties and tags under the names that questions use."""

    def __init__(self, store: Path) -> None:
        with sqlite3.connect(store) as db:
            db.row_factory = sqlite3.Row
            self.runs: List[Row] = [dict(row) for row in db.execute("SELECT * FROM runs")]
            known = {(run["app_id"], run["attempt"]): run for run in self.runs}
            for prefix, view, key in (("agg", "aggregates", "name"), ("property", "properties", "key"), ("tag", "tags", "key")):
                for row in db.execute(f"SELECT app_id, attempt, {key} AS key, value FROM {view}"):
                    known[row["app_id"], row["attempt"]][f"{prefix}.{row['key']}"] = row["value"]
            self.lists: Dict[str, List[Row]] = {}
            for view in ("findings", "usage", "allocations"):  # their own columns before those of the run
                self.lists[view] = [{**known[row["app_id"], row["attempt"]], **dict(row)} for row in db.execute(f"SELECT * FROM {view}")]
            self.errors = [dict(row) for row in db.execute("SELECT * FROM errors")]

    def groups(self, rows: List[Row], by: str) -> Dict[Any, List[Row]]:
        found: Dict[Any, List[Row]] = {}
        for row in rows:
            found.setdefault(row.get(by), []).append(row)
        return found


def ended(run: Row) -> bool:
    return run["status"] in ("completed", "failed")


def total(rows: List[Row], field: str) -> float:
    return sum(row[field] for row in rows if row.get(field) is not None)


def runs(fleet: Fleet, keep: Keep) -> Dict[Any, Row]:
    return {
        name: {
            "runs": len(rows),
            "failed": sum(row["status"] == "failed" for row in rows),
            "median_ms": nearest_rank([row["duration_ms"] for row in rows], 50),
            "p95_ms": nearest_rank([row["duration_ms"] for row in rows], 95),
            "core_ms": total(rows, "core_ms"),
            "last_ms": max(row["start_ms"] for row in rows),
        }
        for name, rows in fleet.groups([run for run in fleet.runs if keep(run)], "application").items()
    }


def findings(fleet: Fleet, by: str, keep: Keep) -> Dict[Any, Row]:
    count = sum(keep(run) for run in fleet.runs)
    rows = [row for row in fleet.lists["findings"] if keep(row) and not row["folded"]]
    return {
        name: {
            "findings": len(own),
            "severe": sum(row["severity"] in ("severe", "critical") for row in own),
            "frequency": len(own) / count,
            "mean_saves_ms": total(own, "saves_ms") / len(own),
            **{field: total(own, field) for field in ("saves_ms", "saves_low_ms", "saves_high_ms", "saves_core_ms")},
        }
        for name, own in fleet.groups(rows, by).items()
    }


def waste(fleet: Fleet, by: str, keep: Keep) -> Dict[Any, Row]:
    return {
        name: {
            "runs": len(rows),
            "core_ms": total(rows, "core_ms"),
            "idle_core_ms": total(rows, "agg.run.idle_core_ms"),
            "failed_tasks_core_ms": total(rows, "agg.run.core_failed_tasks_ms"),
            "wasted_core_ms": total(rows, "agg.run.wasted_core_ms"),
            "wasted_share": total(rows, "agg.run.wasted_core_ms") / total(rows, "core_ms"),
            "failed_runs_core_ms": total([row for row in rows if row["status"] == "failed"], "core_ms"),
        }
        for name, rows in fleet.groups([run for run in fleet.runs if keep(run)], by).items()
    }


def usage(fleet: Fleet, span_ms: int, keep: Keep) -> Dict[Any, Row]:
    spans: Dict[int, List[Row]] = {}
    for row in fleet.lists["usage"]:
        if keep(row):
            spans.setdefault(row["start_ms"] // span_ms * span_ms, []).append(row)
    fields = ("core_ms", "busy_core_ms", "mib_ms", "input_bytes", "output_bytes", "shuffle_bytes")
    return {
        start: {
            "cores": total(rows, "core_ms") / span_ms,
            "busy_cores": total(rows, "busy_core_ms") / span_ms,
            "memory_bytes": total(rows, "mib_ms") * 1048576 / span_ms,
            **{field: total(rows, field) for field in fields},
        }
        for start, rows in spans.items()
    }


def parallelism(fleet: Fleet, by: str) -> Dict[Any, Row]:
    rows = [run for run in fleet.runs if "agg.summary.est_seq_time" in run and ended(run)]
    found = {}
    for name, own in fleet.groups(rows, by).items():
        t1, tm = total(own, "agg.summary.est_seq_time"), total(own, "duration_ms")
        found[name] = {
            "runs": len(own),
            "t1_ms": t1 / len(own),
            "tm_ms": tm / len(own),
            "speedup": t1 / tm,
            "efficiency": total(own, "agg.summary.parallel_work") / total(own, "agg.summary.core_cost"),
            "parallel_fraction": total(own, "agg.summary.parallel_part") / tm,
            "speedup_p50": nearest_rank([row["agg.summary.estimated_speedup"] for row in own], 50),
            "efficiency_p95": nearest_rank([row["agg.summary.estimated_core_efficiency"] for row in own], 95),
        }
    return found


def idle(fleet: Fleet, by: str) -> Dict[Any, Row]:
    zeroes, elements = "agg.executors.totalTasks.count_zeroes", "agg.executors.elements_count"
    rows = [run for run in fleet.runs if zeroes in run and ended(run)]
    return {
        name: {
            "runs": len(own),
            "runs_with_idle": sum(row[zeroes] > 0 for row in own),
            "executors": total(own, elements),
            "idle_executors": total(own, zeroes),
            "idle_share": total(own, zeroes) / total(own, elements),
            "most_idle": max(row[zeroes] for row in own),
            "unused_core_ms": int(total(own, "agg.summary.unused_core_cost")),
        }
        for name, own in fleet.groups(rows, by).items()
    }


def configurations(fleet: Fleet, keys: Sequence[str]) -> Dict[Tuple[Any, ...], Row]:
    found: Dict[Tuple[Any, ...], List[Row]] = {}
    for run in fleet.runs:
        found.setdefault(tuple(run.get(f"property.{key}") for key in keys), []).append(run)
    made = {}
    for key, rows in found.items():
        completed = [row for row in rows if row["status"] == "completed"]
        made[key] = {
            "runs": len(rows),
            "failed": sum(row["status"] == "failed" for row in rows),
            "median_ms": median([row["duration_ms"] for row in completed]) if completed else None,
            "p95_ms": nearest_rank([row["duration_ms"] for row in completed], 95),
            "median_core_ms": median([row["core_ms"] for row in completed]) if completed else None,
            "last_ms": max(row["start_ms"] for row in rows),
        }
    return made


def log_points(rows: Sequence[Row]) -> Tuple[List[float], List[float]]:
    return [math.log((row["input_bytes"] or 0) + 1048576) for row in rows], [math.log(max(row["duration_ms"], 1)) for row in rows]


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Theil-Sen, within [0, 1.5]; 0 for few runs and for inputs that hardly differ."""
    if len(x) < 8 or max(x) - min(x) < math.log(2):
        return 0.0
    slopes = [(y[j] - y[i]) / (x[j] - x[i]) for i in range(len(x)) for j in range(i) if x[i] != x[j]]
    return min(1.5, max(0.0, median(slopes)))


def trend(fleet: Fleet, application: str) -> Dict[str, Row]:
    """By application id: the adjusted duration, and the modified z-score of its logarithm."""
    rows = sorted((run for run in fleet.runs if run["application"] == application and run["status"] == "completed"), key=lambda run: run["start_ms"])
    x, y = log_points(rows)
    b, middle = slope(x, y), median(x)
    adjusted = [value - b * (at - middle) for at, value in zip(x, y)]
    center = median(adjusted)
    mad = median([abs(value - center) for value in adjusted])
    return {row["app_id"]: {"adjusted_ms": math.exp(value), "z": 0.6745 * (value - center) / mad} for row, value in zip(rows, adjusted)}


def shift(before: Sequence[float], after: Sequence[float]) -> float:
    """Hodges and Lehmann."""
    return median([b - a for a in before for b in after])


def p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """Mann-Whitney, two-sided, by the normal approximation with corrections for ties and continuity."""
    n, m = len(before), len(after)
    u = sum(0.5 if a == b else float(a > b) for a in after for b in before)
    ties = sum(count**3 - count for count in Counter([*before, *after]).values())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance <= 0:
        return 1.0
    return min(1.0, math.erfc(max(0.0, abs(u - n * m / 2) - 0.5) / math.sqrt(2 * variance)))
