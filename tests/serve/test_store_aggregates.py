"""What stores keep of runs against what real History Servers answer about the same logs: the merged document, and
aggregates by Spot's formulas."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

import pytest
import schemas
import spot
from differential import app_paths, first_difference, get, still
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
    document: Dict[str, Any]
    completed: bool


def exceptions(completed: bool) -> Callable[[str], bool]:
    """Names whose values cannot be equal."""
    # Reasons with ids in them would be names of one run.
    names = r"stages\.killedTasksSummary\.[^0-9]*[0-9].*\.[a-z_]+"
    # The server takes its own clock for the driver's time while an application runs.
    names += "" if completed else r"|driver\.totalDuration"
    return lambda name: re.fullmatch(names, name) is not None


def answered(history: History) -> Iterator[Answered]:
    port = history.server.port
    for app in get(port, "applications"):
        for attempt, base in zip(app["attempts"], app_paths(app)):
            executors, stages = get(port, f"{base}/allexecutors"), get(port, f"{base}/stages")
            numbers = spot.aggregates(attempt, executors, stages)
            left_out = exceptions(attempt["completed"])
            document = {"allexecutors": executors, "stages": stages, "environment": get(port, f"{base}/environment")}
            document.update(attempt=attempt, id=app["id"], name=app["name"])
            yield Answered(app["id"], attempt.get("attemptId", ""), numbers, left_out, document, attempt["completed"])


def as_served(log: Path, version: str, folder: Path) -> Path:
    """The log, which says that this version wrote it: how a server counts depends on the server, and how a store does on
    what the log says."""
    lines = conftest.lines_of(log)
    major = version.split(".")[0].encode()
    if any(re.match(rb'\{"Event":"SparkListenerLogStart","Spark Version":"' + major, line) for line in lines[:10]):
        return log
    copy = folder / log.name
    text = re.sub(rb'("Spark Version":")[0-9.]+', rb"\g<1>" + version.encode(), b"\n".join(lines) + b"\n", count=1)
    copy.write_bytes(text)
    return copy


def inputs_of(history: History, by: str, folder: Path) -> List[str]:
    """What `diagnose` reads: the files of the logs, or what the server says of them."""
    if by == "rest":
        return [history.server.url, "--remote", "rest"]
    version = get(history.server.port, "version")["spark"]
    return [str(as_served(path, version, folder)) for path in history.logs.values()]


def stored(history: History, by: str, store: Path, binary: str) -> Dict[Tuple[str, str], Numbers]:
    inputs = inputs_of(history, by, store.parent)
    run = conftest.run_command([binary, "diagnose", *inputs, "--store", f"sqlite:{store}", "--format", "json"], limit_s=300)
    assert run.exit == 0, run.explain()
    found: Dict[Tuple[str, str], Numbers] = {}
    connection = sqlite3.connect(store)
    for app, attempt, name, value in connection.execute("SELECT app_id, attempt, name, value FROM aggregates"):
        found.setdefault((app, attempt), {})[name] = value
    connection.close()
    return found


def differences(run: Answered, found: Numbers) -> List[str]:
    unlike = []
    names = {name for name in found if name.startswith(GROUPS)} | set(run.numbers)
    for name in sorted(name for name in names if not run.left_out(name)):
        one, other = run.numbers.get(name), found.get(name)
        if one is None or other is None or not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9):
            unlike.append(f"{name} is {other}, wanted {one}")
    return unlike


def equal_runs(history: History, by: str, store: Path, binary: str) -> List[Answered]:
    found = stored(history, by, store, binary)
    runs = list(answered(history))
    for run in runs:
        unlike = differences(run, found[run.app, run.attempt])
        shown = "\n".join(unlike[:20])
        assert not unlike, f"{run.app} {run.attempt}: {len(unlike)} of {len(run.numbers)} differ\n{shown}"
        assert any(name.startswith("run.") for name in found[run.app, run.attempt])
    assert len(runs) == len(history.logs)
    return runs


LONG = ("details", "executorLogs", "hadoopProperties", "systemProperties", "classpathEntries")
LATER = {"exitCode", "logSourceName", "logSourceFullPath"}  # members of attempts that only Spark 4.3 has
OURS = ("schema", "history_host", "time_processed", "is_final_attempt", "sparkProperties")


def shortened(value: Any) -> Any:
    """An answer without the long texts that stores leave out."""
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items() if key not in LONG}
    return [shortened(one) for one in value] if isinstance(value, list) else value


def equal_documents(runs: List[Answered], by: str, store: Path) -> None:
    connection = sqlite3.connect(store)
    raw = connection.execute("SELECT app_id, attempt, json FROM raw").fetchall()
    connection.close()
    documents = {(app, attempt): json.loads(text) for app, attempt, text in raw}
    assert len(documents) == len(runs)
    for run in runs:
        document = documents[run.app, run.attempt]
        schemas.check(document, "pyrometer.history_document-1.json")
        found = {key: value for key, value in document.items() if key not in OURS}
        for key in LATER & set(run.document["attempt"]):
            del run.document["attempt"][key]
        wanted = still(shortened(run.document), not run.completed)
        if by == "log":
            wanted["attempt"]["appSparkVersion"] = found["attempt"]["appSparkVersion"]  # see as_served()
        elif run.completed:
            assert found["attempt"] == run.document["attempt"]
        unlike = first_difference(wanted, still(found, not run.completed))
        assert not unlike, f"{run.app} {run.attempt}: {unlike}"
        assert list(document["sparkProperties"]) == [key for key, _ in document["environment"]["sparkProperties"]]


class TestSpark3:
    pytestmark = ON_SPARK_3

    @pytest.mark.parametrize("by", ["log", "rest"])
    def test_equal_spots(self, by: str, spark_3: History, tmp_path: Path, binary: str) -> None:
        runs = equal_runs(spark_3, by, tmp_path / "runs.db", binary)
        equal_documents(runs, by, tmp_path / "runs.db")
        # All that is hard to count is among them.
        numbers = [run.numbers for run in runs]
        assert len(runs) >= 19 and len({run.app for run in runs}) < len(runs)  # several attempts of one application
        assert any(one["stages.numFailedTasks.sum"] > 0 for one in numbers)
        assert any(one["executors.elements_count"] > one.get("executors.isActive.sum", 0) for one in numbers)  # lost ones
        assert any(one["stages.throughput_bytes.min"] == -1 for one in numbers)  # skipped or unfinished stages
        assert any(one["summary.stages_in_parallel"] for one in numbers if "summary.stages_in_parallel" in one)
        assert any("driver.coreCost" in one and "summary.core_cost" not in one for one in numbers)  # a local master


class TestSpark4:
    pytestmark = ON_SPARK_4

    @pytest.mark.parametrize("by", ["log", "rest"])
    def test_equal_spots(self, by: str, spark_4: History, tmp_path: Path, binary: str) -> None:
        runs = equal_runs(spark_4, by, tmp_path / "runs.db", binary)
        equal_documents(runs, by, tmp_path / "runs.db")
        assert len(runs) >= 6
