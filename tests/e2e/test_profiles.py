"""Profiles (drelephant, kubeflow): their verdicts against the peers' formulas, computed here from the log's lines."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, List

import pytest
import zstandard
from conftest import ROOT

LOGS = [
    path
    for path in sorted((ROOT / "corpus" / "logs").glob("*.zst"))
    if path.stem in {"data_skew", "disk_spill", "gc_pressure", "task_failures", "executor_lost", "slow_ramp", "spill_window"}
]
WORDS = ["NONE", "LOW", "MODERATE", "SEVERE", "CRITICAL"]


def events(path: Path) -> List[Dict[str, Any]]:
    """Every line of a log."""
    with path.open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
    return [json.loads(line) for line in text.splitlines()]


class Run:
    """What the peers' formulas need, by the events alone."""

    def __init__(self, path: Path) -> None:
        self.properties: Dict[str, str] = {}
        self.executors: Dict[str, Dict[str, int]] = {}
        self.stages: Dict[Any, Dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.gc = self.duration = self.failed = 0
        for event in events(path):
            name = event["Event"]
            if name == "SparkListenerEnvironmentUpdate":
                self.properties = dict(event["Spark Properties"])
            elif name == "SparkListenerExecutorAdded":
                self.executors.setdefault(event["Executor ID"], defaultdict(int))
            elif name == "SparkListenerStageCompleted":
                info = event["Stage Info"]
                stage = self.stages[info["Stage ID"], info["Stage Attempt ID"]]
                stage["bad" if "Failure Reason" in info else "good"] = 1
            elif name == "SparkListenerTaskEnd":
                self.add_task(event)

    def add_task(self, event: Dict[str, Any]) -> None:
        info, metrics = event["Task Info"], event.get("Task Metrics") or {}
        executor = self.executors.setdefault(info["Executor ID"], defaultdict(int))
        stage = self.stages[event["Stage ID"], event["Stage Attempt ID"]]
        duration = info["Finish Time"] - info["Launch Time"]
        read = metrics.get("Shuffle Read Metrics", {})
        for key, value in {
            "duration": duration,
            "gc": metrics.get("JVM GC Time", 0),
            "input": metrics.get("Input Metrics", {}).get("Bytes Read", 0),
            "read": read.get("Remote Bytes Read", 0) + read.get("Local Bytes Read", 0),
            "write": metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0),
        }.items():
            # The History Server leaves out a Resubmitted record's metrics, but not its duration.
            if key == "duration" or event["Task End Reason"]["Reason"] != "Resubmitted":
                executor[key] += value
        reason = event["Task End Reason"]["Reason"]
        # As Spark's AppStatusListener counts them.
        if reason in {"TaskKilled", "TaskCommitDenied"}:
            pass
        elif reason != "Success":
            stage["failed"] += 1
            self.failed += 1
        else:
            stage["done"] += 1
        stage["run"] += metrics.get("Executor Run Time", 0)
        stage["spill"] += metrics.get("Memory Bytes Spilled", 0)
        self.gc += 0 if reason == "Resubmitted" else metrics.get("JVM GC Time", 0)
        self.duration += duration

    def listed(self) -> List[Dict[str, int]]:
        """The executors as the History Server lists them: with the driver."""
        return [*self.executors.values(), *([] if "driver" in self.executors else [defaultdict(int)])]


def level(value: float, limits: List[float]) -> str:
    """Dr. Elephant's severity of a value, with ascending limits."""
    return WORDS[max((i + 1 for i, limit in enumerate(limits) if value >= limit), default=0)]


def verdicts(diagnose: Any, path: Path, profile: str) -> List[Dict[str, Any]]:
    run = diagnose(path, "--profile", profile)
    assert run.exit == 0, run.explain()
    assert run.json["profile"]["name"] == profile
    return run.json["profile"]["verdicts"]


def rate(failed: float, done: float) -> float:
    return failed / (failed + done) if failed + done else 0.0


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_drelephant(diagnose: Any, path: Path) -> None:
    run = Run(path)
    got: Dict[str, List[Dict[str, Any]]] = defaultdict(list)
    for verdict in verdicts(diagnose, path, "drelephant"):
        got[verdict["heuristic"]].append(verdict)

    executors = [values for name, values in run.executors.items() if name != "driver"]
    duration = sum(values["duration"] for values in executors)
    if duration:
        gc = sum(values["gc"] for values in executors) / duration
        (one,) = got["Executor GC"]
        assert one["value"] == pytest.approx(gc, abs=1e-9)
        assert one["severity"] == level(gc, [0.08, 0.1, 0.15, 0.2])
    else:
        assert not got["Executor GC"]

    stages = list(run.stages.values())
    count = int(run.properties.get("spark.executor.instances", len(run.listed())))
    expected = [
        (rate(sum(s["bad"] for s in stages), sum(s["good"] for s in stages)), [0.1, 0.3, 0.5, 0.5]),
        (max(rate(s["failed"], s["done"]) for s in stages), [0.1, 0.3, 0.5, 0.5]),
        (max(s["run"] // count for s in stages), [minutes * 60000 for minutes in (15, 30, 45, 60)]),
    ]
    for one, (value, limits) in zip(got["Spark Stage Metrics"], expected, strict=True):
        assert one["value"] == pytest.approx(value, abs=1e-9)
        assert one["severity"] == level(value, limits)

    spread = [10**0.125, 10**0.25, 10**0.5, 10]
    keys = [("duration", 300000), ("input", 100 << 20), ("read", 100 << 20), ("write", 100 << 20)]
    for one, (key, ignored) in zip(got["Spark Executor Metrics"], keys, strict=True):
        values = sorted(executor[key] for executor in run.listed())
        middle = len(values) // 2
        median = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) // 2
        assert f"max {values[-1]}, median {median}" in one["detail"]
        if values[-1] < ignored:
            assert one["severity"] == "NONE"
        else:
            assert one["severity"] == (level(values[-1] / median, spread) if median else "CRITICAL")

    (serializer,) = [one for one in got["Spark Configuration"] if "spark.serializer" in one["detail"]]
    assert serializer["severity"] == "MODERATE"
    dynamic = run.properties.get("spark.dynamicAllocation.enabled", "false") == "true"
    (service,) = [one for one in got["Spark Configuration"] if "shuffle.service" in one["detail"]]
    assert service["severity"] == ("SEVERE" if dynamic else "MODERATE")


def test_drelephant_by_hand(diagnose: Any) -> None:
    """A run in which one stage lost tasks and no job failed, each number worked out from the log by hand."""
    rows = verdicts(diagnose, ROOT / "corpus" / "logs" / "task_failures.zst", "drelephant")
    jobs = [row for row in rows if row["heuristic"] == "Spark Job Metrics"]
    assert [row["severity"] for row in jobs] == ["NONE", "LOW"]
    assert jobs[0]["value"] == 0


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_kubeflow(diagnose: Any, path: Path) -> None:
    run = Run(path)
    gc, spill, failed = verdicts(diagnose, path, "kubeflow")
    share = run.gc / run.duration
    assert gc["value"] == pytest.approx(share, abs=1e-9)
    assert gc["severity"] == ("high" if share > 0.1 else "none")
    spilling = sum(stage["spill"] > 100 * 1024 * 1024 for stage in run.stages.values())
    assert spill["severity"] == ("high" if spilling else "none")
    assert spill["detail"].startswith(f"{spilling} stages")
    assert failed["value"] == run.failed
    assert failed["severity"] == ("medium" if run.failed else "none")


def test_profiles_are_unlike_on_these_logs() -> None:
    """The logs above reach both sides of every limit of Kubeflow's, so that the comparison can fail."""
    runs = [Run(path) for path in LOGS]
    assert len(runs) == 7
    assert {run.gc / run.duration > 0.1 for run in runs} == {True, False}
    assert {run.failed > 0 for run in runs} == {True, False}


def test_findings_stay_as_they_are(diagnose: Any) -> None:
    path = ROOT / "corpus" / "logs" / "data_skew.zst"
    plain, with_profile = diagnose(path).json, diagnose(path, "--profile", "drelephant").json
    assert plain["profile"] is None
    del plain["profile"], with_profile["profile"]
    assert plain == with_profile
