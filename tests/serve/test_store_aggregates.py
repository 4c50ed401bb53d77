"""Aggregates of stored runs against Spot's formulas over what real History Servers answer about the same logs."""

from __future__ import annotations

import math
import re
import sqlite3
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Tuple

import spot
from differential import app_paths, get
from servers.shared import ON_SPARK_3, ON_SPARK_4, History

import conftest

Numbers = Dict[str, float]
GROUPS = ("driver.", "executors.", "stages.", "summary.")


class Answered(NamedTuple):
    """One attempt as a server shows it."""

    app: str
    attempt: str
    numbers: Numbers
    left_out: Callable[[str], bool]


def exceptions(server: str, version: str, completed: bool) -> Callable[[str], bool]:
    """Names whose values cannot be equal: of a log of that Spark version on that server's."""
    # The server takes its own clock for the driver's time while an application runs.
    names = r"driver\.totalDuration" if not completed else r"(?!)"
    # Reasons with ids in them would be names of one run.
    names += r"|stages\.killedTasksSummary\.[^0-9]*[0-9].*\.[a-z_]+"
    # Spark 4's own columns: its server shows zeros of older logs, and older servers do not show them.
    if server < "4" or version < "4":
        names += r"|.*\.ConcurrentGC(Count|Time)(\.[a-z_]+)?"
    return lambda name: re.fullmatch(names, name) is not None


def answered(history: History) -> Iterator[Answered]:
    port = history.server.port
    server = get(port, "version")["spark"]
    for app in get(port, "applications"):
        for attempt, base in zip(app["attempts"], app_paths(app)):
            executors, stages = get(port, f"{base}/allexecutors"), get(port, f"{base}/stages")
            left_out = exceptions(server, attempt["appSparkVersion"], attempt["completed"])
            yield Answered(app["id"], attempt.get("attemptId", ""), spot.aggregates(attempt, executors, stages), left_out)


def stored(history: History, store: Path, binary: str) -> Dict[Tuple[str, str], Numbers]:
    paths = [str(path) for path in history.logs.values()]
    run = conftest.run_command([binary, "diagnose", *paths, "--store", f"sqlite:{store}", "--format", "json"])
    assert run.exit == 0, run.explain()
    found: Dict[Tuple[str, str], Numbers] = {}
    connection = sqlite3.connect(store)
    for app, attempt, name, value in connection.execute("SELECT app_id, attempt, name, value FROM aggregates"):
        found.setdefault((app, attempt), {})[name] = value
    connection.close()
    return found


def differences(run: Answered, found: Numbers) -> List[str]:
    unlike = []
    for name in sorted({name for name in found if name.startswith(GROUPS)} | set(run.numbers)):
        one, other = run.numbers.get(name), found.get(name)
        if one is None or other is None or not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9):
            unlike.append(f"{name} is {other}, wanted {one}")
    return [text for text in unlike if not run.left_out(text.split(" is ")[0])]


def equal_runs(history: History, store: Path, binary: str) -> List[Answered]:
    found = stored(history, store, binary)
    runs = list(answered(history))
    for run in runs:
        unlike = differences(run, found[run.app, run.attempt])
        shown = "\n".join(unlike[:20])
        assert not unlike, f"{run.app} {run.attempt}: {len(unlike)} of {len(run.numbers)} differ\n{shown}"
    assert len(runs) == len(history.logs)
    return runs


class TestSpark3:
    pytestmark = ON_SPARK_3

    def test_equal_spots(self, spark_3: History, tmp_path: Path, binary: str) -> None:
        runs = equal_runs(spark_3, tmp_path / "runs.db", binary)
        # All that is hard to count is among them.
        numbers = [run.numbers for run in runs]
        assert len(runs) >= 19 and len({run.app for run in runs}) < len(runs)  # several attempts of one application
        assert any(one["stages.numFailedTasks.sum"] > 0 for one in numbers)
        assert any(one["executors.elements_count"] > one.get("executors.isActive.sum", 0) for one in numbers)  # lost ones
        assert any(one["stages.throughput_bytes.min"] == -1 for one in numbers)  # skipped or unfinished stages
        assert any(one["summary.stages_in_parallel"] for one in numbers if "summary.stages_in_parallel" in one)
        assert any(one["summary.estimated_core_efficiency"] > 1 for one in numbers if "summary.core_cost" in one)
        assert any("driver.coreCost" in one and "summary.core_cost" not in one for one in numbers)  # a local master


class TestSpark4:
    pytestmark = ON_SPARK_4

    def test_equal_spots(self, spark_4: History, tmp_path: Path, binary: str) -> None:
        assert len(equal_runs(spark_4, tmp_path / "runs.db", binary)) >= 6
