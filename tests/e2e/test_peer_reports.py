"""Profiles sparklens and dataflint against the peers' definitions, computed here from the log's lines."""

from __future__ import annotations

import heapq
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

import pytest
import zstandard
from conftest import ROOT

NAMES = [
    "data_skew",
    "driver_collect",
    "executor_lost",
    "healthy_threads",
    "join_sorted",
    "partition_explosion",
    "small_input_files",
    "straggler",
    "task_failures",
    "task_overhead",
]
LOGS = [ROOT / "corpus" / "logs" / f"{name}.zst" for name in NAMES]
MIB = 1024 * 1024


class Run:
    """The events of a log by kind."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            text = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
        self.events = [json.loads(line) for line in text.splitlines()]
        self.start = self.one("SparkListenerApplicationStart")["Timestamp"]
        self.end = self.one("SparkListenerApplicationEnd")["Timestamp"]
        self.properties = self.one("SparkListenerEnvironmentUpdate")["Spark Properties"]

    def all(self, name: str) -> List[Dict[str, Any]]:
        return [event for event in self.events if event["Event"].rsplit(".", 1)[-1] == name]

    def one(self, name: str) -> Dict[str, Any]:
        return self.all(name)[0]

    def executors(self) -> Dict[str, Dict[str, Any]]:
        gone = {event["Executor ID"]: event["Timestamp"] for event in self.all("SparkListenerExecutorRemoved")}
        return {
            event["Executor ID"]: {
                "cores": event["Executor Info"]["Total Cores"],
                "added": event["Timestamp"],
                "removed": gone.get(event["Executor ID"], self.end),
            }
            for event in self.all("SparkListenerExecutorAdded")
        }


RUNS: Dict[Path, Run] = {}


def load(path: Path) -> Run:
    if path not in RUNS:
        RUNS[path] = Run(path)
    return RUNS[path]


def verdicts(diagnose: Any, path: Path, profile: str) -> Dict[str, List[Dict[str, Any]]]:
    run = diagnose(path, "--profile", profile)
    assert run.exit == 0, run.explain()
    found: Dict[str, List[Dict[str, Any]]] = defaultdict(list)
    for verdict in run.json["profile"]["verdicts"]:
        found[verdict["heuristic"]].append(verdict)
    return found


# ---- Sparklens -------------------------------------------------------------------------------------------------------


class Listener:
    """Goes through the events in their order, as Sparklens' listener does."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.jobs: Dict[int, Dict[str, Any]] = {}
        self.stages: Dict[int, Dict[str, Any]] = {}
        self.owner: Dict[int, int] = {}
        for event in run.events:
            name = event["Event"]
            if name == "SparkListenerJobStart":
                self.jobs[event["Job ID"]] = {
                    "start": event["Submission Time"],
                    "sql": event["Properties"].get("spark.sql.execution.id"),
                    "stages": set(),
                    "run": 0,
                }
                self.owner.update({stage: event["Job ID"] for stage in event["Stage IDs"]})
            elif name == "SparkListenerJobEnd":
                self.jobs[event["Job ID"]]["end"] = event["Completion Time"]
            elif name == "SparkListenerStageSubmitted":
                info = event["Stage Info"]
                self.stages.setdefault(
                    info["Stage ID"],
                    {"parents": info["Parent IDs"], "open": [], "times": [], "run": [], "first": None, "last": 0},
                )
            elif name == "SparkListenerTaskEnd":
                self.end_task(event)
            elif name == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                stage = self.stages[info["Stage ID"]]
                stage["times"] = [ms for _, ms in sorted(stage["open"])]
                stage["open"] = []
                if "Failure Reason" not in info:
                    self.jobs[self.owner[info["Stage ID"]]]["stages"].add(info["Stage ID"])

    def end_task(self, event: Dict[str, Any]) -> None:
        stage = self.stages[event["Stage ID"]]
        ms = (event.get("Task Metrics") or {}).get("Executor Run Time", 0)
        stage["open"].append((event["Task Info"]["Task ID"], ms))
        stage["run"].append(ms)
        self.jobs[self.owner[event["Stage ID"]]]["run"] += ms

    def groups(self) -> List[List[Dict[str, Any]]]:
        by_sql: Dict[Any, List[Dict[str, Any]]] = defaultdict(list)
        for number, job in self.jobs.items():
            by_sql[job["sql"] if job["sql"] is not None else ("alone", number)].append(job)
        groups: List[List[Dict[str, Any]]] = []
        for jobs in by_sql.values():
            last: Optional[Dict[str, Any]] = None
            for job in sorted(jobs, key=lambda job: job["start"]):
                if last is None or last["end"] < job["start"]:
                    groups.append([])
                groups[-1].append(job)
                last = job
        return groups

    def critical(self, job: Dict[str, Any]) -> int:
        def path(stage: int) -> int:
            if stage not in job["stages"]:
                return 0
            return max(self.stages[stage]["run"]) + max(map(path, self.stages[stage]["parents"]), default=0)

        return path(max(job["stages"])) if job["stages"] else 0

    def simulate(self, group: List[Dict[str, Any]], cores: int) -> int:
        """All stages of a group on a number of cores: a stage whose parents are done gives its tasks, by its id."""
        left = {stage: len(self.stages[stage]["times"]) for job in group for stage in job["stages"]}
        if not left:
            return sum(job["end"] - job["start"] for job in group)
        waiting, running, clock = set(left), [], 0
        while waiting:
            ready = [s for s in waiting if all(left.get(parent, 0) == 0 for parent in self.stages[s]["parents"])]
            if ready:
                stage = min(ready)
                waiting.remove(stage)
                for ms in self.stages[stage]["times"]:
                    if len(running) == cores:
                        clock, done = heapq.heappop(running)
                        left[done] -= 1
                    heapq.heappush(running, (clock + max(ms, 1), stage))
            else:
                clock, done = heapq.heappop(running)
                left[done] -= 1
        return max([clock, *(finish for finish, _ in running)])


def most_at_once(executors: Dict[str, Dict[str, Any]]) -> int:
    moments = [(e["added"], -1) for e in executors.values()] + [(e["removed"], 1) for e in executors.values()]
    most = alive = 0
    for _, change in sorted(moments):
        alive -= change
        most = max(most, alive)
    return most


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_sparklens(diagnose: Any, path: Path) -> None:
    run, got = load(path), verdicts(diagnose, path, "sparklens")
    listener = Listener(run)
    groups, wall = listener.groups(), run.end - run.start
    in_jobs = sum(max(job["end"] for job in group) - min(job["start"] for job in group) for group in groups)
    used = sum(job["run"] for job in listener.jobs.values())
    (cores,) = {executor["cores"] for executor in run.executors().values()}
    executors = most_at_once(run.executors())
    total = cores * executors

    def value(name: str) -> float:
        return got[name][0]["value"]

    assert value("Total WallClock Time") == wall
    assert value("Driver WallClock Time") == pytest.approx((wall - in_jobs) * 100 / wall, rel=1e-6)
    assert value("Executor WallClock Time") == pytest.approx(in_jobs * 100 / wall, rel=1e-6)
    critical = sum(max(listener.critical(job) for job in group) for group in groups)
    assert value("Critical path") == wall - in_jobs + critical
    assert value("Zero skew") == wall - in_jobs + used // total
    assert value("Single core") == wall - in_jobs + used
    assert value("Total cores") == total
    assert value("Hours available") == total * wall
    assert value("Hours AutoScale Aware") == sum(
        e["cores"] * (e["removed"] - e["added"]) for e in run.executors().values()
    )
    assert value("Executor hours used") == pytest.approx(used * 100 / (total * in_jobs), rel=1e-6)
    assert value("Wasted Total") == pytest.approx(
        ((wall - in_jobs) * total + total * in_jobs - used) * 100 / (total * wall), rel=1e-5
    )
    spans = sorted((min(job["start"] for job in group), max(job["end"] for job in group)) for group in groups)
    overlaps = sum(before[1] > after[0] for before, after in zip(spans, spans[1:]))
    assert value("Job overlap") == overlaps
    assert got["Job overlap"][0]["severity"] == ("Found" if overlaps else "Good")

    shares = [10, 20, 50, 80, 100, 110, 120, 150, 200, 300, 400, 500]
    sizes = [executors * share // 100 for share in shares if executors * share // 100]
    told = [int(re.match(r"(\d+) executors", one["detail"])[1]) for one in got["Estimated time"]]
    assert told == sizes
    for one, size in zip(got["Estimated time"], sizes):
        assert one["value"] == wall - in_jobs + sum(listener.simulate(group, size * cores) for group in groups)


def test_sparklens_meets_hard_runs() -> None:
    """Of the logs above some lost work and some run jobs side by side."""
    runs = [load(path) for path in LOGS]
    assert any("Failure Reason" in e["Stage Info"] for run in runs for e in run.all("SparkListenerStageCompleted"))
    assert any(not e.get("Task Metrics") for run in runs for e in run.all("SparkListenerTaskEnd"))
    assert any(len(Listener(run).groups()) > 50 for run in runs)


# ---- DataFlint -------------------------------------------------------------------------------------------------------


def size(text: str) -> int:
    units = {"k": 1024, "m": MIB, "g": 1024 * MIB}
    return int(text[:-1]) * units[text[-1].lower()]


def newest_plans(run: Run) -> Dict[int, Dict[str, Any]]:
    plans = {}
    for event in run.events:
        if event["Event"].endswith(("SQLExecutionStart", "SQLAdaptiveExecutionUpdate")):
            plans[event["executionId"]] = event["sparkPlanInfo"]
    return plans


def walk(plan: Dict[str, Any]) -> List[Dict[str, Any]]:
    return [plan, *(node for child in plan["children"] for node in walk(child))]


def metric_totals(run: Run) -> Dict[int, int]:
    totals: Dict[int, int] = defaultdict(int)
    for event in run.events:
        if event["Event"] == "SparkListenerTaskEnd":
            for update in event["Task Info"]["Accumulables"]:
                if str(update.get("Metadata")) == "sql":
                    totals[update["ID"]] += int(update["Update"])
        elif event["Event"].endswith("SparkListenerDriverAccumUpdates"):
            for number, value in event["accumUpdates"]:
                totals[number] += value
    return totals


def metric(totals: Dict[int, int], node: Dict[str, Any], name: str) -> Optional[int]:
    numbers = [one["accumulatorId"] for one in node["metrics"] if one["name"] == name]
    return totals[numbers[0]] if numbers and numbers[0] in totals else None


def places(got: Dict[str, List[Dict[str, Any]]], alert: str) -> Set[int]:
    """Queries, or stages where the alert is about these."""
    kind = "stage" if alert == "partitionSkew" else "query"
    return {int(re.search(rf"{kind} (\d+)", one["detail"])[1]) for one in got[alert] if one["severity"] != "none"}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_dataflint_application(diagnose: Any, path: Path) -> None:
    run, got = load(path), verdicts(diagnose, path, "dataflint")
    peaks: Dict[str, int] = defaultdict(int)
    for event in run.all("SparkListenerStageExecutorMetrics"):
        peaks[event["Executor ID"]] = max(peaks[event["Executor ID"]], event["Executor Metrics"]["JVMHeapMemory"])
    peak = max((value for name, value in peaks.items() if name != "driver"), default=0)
    share = peak * 100 / size(run.properties.get("spark.executor.memory", "1g"))
    high, low = got["executorMemoryTooHigh"][0], got["executorMemoryTooLow"][0]
    assert high["value"] == pytest.approx(min(share, 100), rel=1e-9)
    assert high["severity"] == ("error" if share > 95 else "none")
    assert low["severity"] == ("warning" if share < 70 else "none")

    busy = sum(
        e["Task Info"]["Finish Time"] - e["Task Info"]["Launch Time"] for e in run.all("SparkListenerTaskEnd")
    )
    possible = sum(e["cores"] * (e["removed"] - e["added"]) for e in run.executors().values())
    idle = got["idleCoresTooHigh"][0]
    assert idle["value"] == pytest.approx(100 - busy * 100 / possible, rel=1e-9)
    assert idle["severity"] == ("warning" if idle["value"] > 50 else "none")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_dataflint_operators(diagnose: Any, path: Path) -> None:
    run, got = load(path), verdicts(diagnose, path, "dataflint")
    totals, small, long, written = metric_totals(run), set(), {}, set()
    for number, plan in newest_plans(run).items():
        for node in walk(plan):
            files, read = metric(totals, node, "number of files read"), metric(totals, node, "size of files read")
            if "Scan" in node["nodeName"] and files and read and files > 100 and read / files < 3 * MIB:
                small.add(number)
            files, output = metric(totals, node, "number of written files"), metric(totals, node, "written output")
            if files and output and files > 100 and output / files < 3 * MIB:
                written.add(number)
            if node["nodeName"] == "Filter":
                text = re.sub(r"#\d+", "", re.sub(r"#\d+L", "", node["simpleString"])).removeprefix("Filter ")
                if text.startswith("("):
                    text = text[1:].removesuffix(")")
                if len(text) > 1000:
                    long[number] = len(text)
    assert places(got, "readSmallFiles") == small
    assert places(got, "writeSmallFilesPartitioned") | places(got, "writeSmallUnpartitionedFiles") == written
    assert places(got, "longFilterCondition") == set(long)
    assert {one["value"] for one in got["longFilterCondition"] if one["severity"] != "none"} <= set(long.values())


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_dataflint_joins(diagnose: Any, path: Path) -> None:
    run, got = load(path), verdicts(diagnose, path, "dataflint")
    totals, expected = metric_totals(run), []

    def side(node: Dict[str, Any], below: bool) -> Optional[int]:
        """What goes into a side; `below`: its own node was passed."""
        name = node["nodeName"]
        inside = lambda: side(node["children"][0], below) if len(node["children"]) == 1 else None  # noqa: E731
        if name.startswith(("WholeStageCodegen", "InputAdapter", "ShuffleQueryStage", "ReusedExchange")):
            return inside()
        if below:
            found = metric(totals, node, "shuffle bytes written") or metric(totals, node, "partition data size")
            if found:
                return found
            if name not in {"Sort", "Filter", "Coalesce", "AQEShuffleRead", "Exchange"}:
                return None
        return side(node["children"][0], True) if len(node["children"]) == 1 else None

    for number, plan in newest_plans(run).items():
        for node in walk(plan):
            if node["nodeName"] != "SortMergeJoin" or len(node["children"]) != 2:
                continue
            sizes = [side(child, False) for child in node["children"]]
            if None not in sizes and min(sizes) < 10 * MIB:
                expected.append((number, min(sizes)))
    raised = [one for one in got["broadcastSmallTable"] if one["severity"] != "none"]
    assert len(raised) == len(expected)
    assert places(got, "broadcastSmallTable") == {number for number, _ in expected}
    # Sizes are read with one decimal, as the UI writes them.
    for one, least in zip(sorted(one["value"] for one in raised), sorted(least for _, least in expected)):
        assert one == pytest.approx(least, rel=0.03)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_dataflint_skew(diagnose: Any, path: Path) -> None:
    run, got = load(path), verdicts(diagnose, path, "dataflint")
    of_queries = {
        stage
        for event in run.all("SparkListenerJobStart")
        if "spark.sql.execution.id" in event["Properties"]
        for stage in event["Stage IDs"]
    }
    times: Dict[int, List[int]] = defaultdict(list)
    for event in run.all("SparkListenerTaskEnd"):
        if event["Task End Reason"]["Reason"] == "Success" and event["Stage Attempt ID"] == 0:
            times[event["Stage ID"]].append(event["Task Metrics"]["Executor Run Time"])
    expected = set()
    for stage, values in times.items():
        median = sorted(values)[len(values) // 2]
        if stage in of_queries and max(values) > 5000 and median and max(values) / median > 10:
            expected.add(stage)
    assert places(got, "partitionSkew") == expected


def test_dataflint_alerts_speak(diagnose: Any) -> None:
    """Each of these alerts is raised in one of the logs, so that the comparisons above can fail."""
    raised = {
        alert
        for path in LOGS
        for alert, found in verdicts(diagnose, path, "dataflint").items()
        if found[0]["severity"] in {"error", "warning"}
    }
    assert raised >= {
        "executorMemoryTooLow",
        "driverMemoryTooHigh",
        "idleCoresTooHigh",
        "readSmallFiles",
        "writeSmallFilesPartitioned",
        "partitionSkew",
        "longFilterCondition",
        "broadcastSmallTable",
    }
