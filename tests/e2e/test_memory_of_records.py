"""Memory grows with each record by no more bytes than pyrometer.h says, rules and report included."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

import conftest

SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
FEW, MANY = 10_000, 40_000


def executors(i: int) -> List[Dict[str, Any]]:
    info = {"Host": f"h{i % 1000}", "Total Cores": 4, "Log Urls": {}, "Attributes": {}, "Resources": {}, "Resource Profile Id": 0}
    return [{"Event": "SparkListenerExecutorAdded", "Timestamp": 1000 + i, "Executor ID": str(i), "Executor Info": info}]


def lost_executors(i: int) -> List[Dict[str, Any]]:
    gone = {"Event": "SparkListenerExecutorRemoved", "Timestamp": 1001 + i, "Executor ID": str(i), "Removed Reason": "gone"}
    return [*executors(i), gone]


def stages(i: int) -> List[Dict[str, Any]]:
    info = {"Stage ID": i, "Stage Attempt ID": 0, "Stage Name": "count", "Number of Tasks": 1, "RDD Info": [], "Parent IDs": [],
            "Details": "", "Submission Time": 1000 + i, "Completion Time": 1001 + i, "Accumulables": []}
    return [{"Event": "SparkListenerStageSubmitted", "Stage Info": info, "Properties": {}},
            {"Event": "SparkListenerStageCompleted", "Stage Info": info}]


def jobs(i: int) -> List[Dict[str, Any]]:
    return [{"Event": "SparkListenerJobStart", "Job ID": i, "Submission Time": 1000 + i, "Stage Infos": [], "Stage IDs": [], "Properties": {}},
            {"Event": "SparkListenerJobEnd", "Job ID": i, "Completion Time": 1001 + i, "Job Result": {"Result": "JobSucceeded"}}]


def executions(i: int) -> List[Dict[str, Any]]:
    plan = {"nodeName": "Scan", "simpleString": "Scan", "children": [], "metadata": {}, "metrics": []}
    return [{"Event": f"{SQL}Start", "executionId": i, "description": "d", "details": "", "physicalPlanDescription": "",
             "sparkPlanInfo": plan, "time": 1000 + i},
            {"Event": f"{SQL}End", "executionId": i, "time": 1001 + i}]


def peak(path: Path, make: Callable[[int], List[Dict[str, Any]]], count: int) -> int:
    first = [{"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
             {"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "app-1", "Timestamp": 1000, "User": "u"}]
    last = {"Event": "SparkListenerApplicationEnd", "Timestamp": 2_000_000}
    with path.open("w", encoding="utf-8") as out:
        for event in (*first, *(event for i in range(count) for event in make(i)), last):
            out.write(json.dumps(event) + "\n")
    words = [str(conftest.binary_path()), "diagnose", "--threads", "1", str(path), "-o", str(path.with_suffix(".txt"))]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss * 1024


@pytest.mark.parametrize(("make", "most"), [(executors, 600), (lost_executors, 1200), (stages, 1000), (jobs, 600), (executions, 800)])
def test_bytes_of_a_record(tmp_path: Path, make: Callable[[int], List[Dict[str, Any]]], most: int) -> None:
    if b"__asan_init" in conftest.binary_path().read_bytes():
        pytest.skip("a sanitizer takes memory of its own")
    grown = peak(tmp_path / "many", make, MANY) - peak(tmp_path / "few", make, FEW)
    assert grown <= most * (MANY - FEW) + (4 << 20)
