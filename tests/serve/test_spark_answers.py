"""Answers that Spark 3.5.6 gives to unusual requests and of unusual logs, as a real History Server gave them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

import pytest
from servers.pyrometer import Server

import conftest

CORPUS = conftest.ROOT / "corpus" / "logs"
APP = "app-1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("logs")
    shutil.copy(CORPUS / "oom_groups.zst", folder / "oom_groups.zst")
    (folder / "made").write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in made_log()), encoding="utf-8")
    with Server(folder) as running:
        yield running


def base(server: Server, made: bool = False) -> str:
    ids = [app["id"] for app in json.loads(server.get("applications")[2])]
    return "applications/" + next(one for one in ids if (one == APP) == made)


# ---- A log in which executors go and come back ---------------------------------------------------------------------


def task(task_id: int, executor: str, start_ms: int, end_ms: Optional[int], heap: Optional[int] = None) -> Dict[str, Any]:
    info = {
        "Task ID": task_id, "Index": task_id, "Attempt": 0, "Partition ID": task_id, "Launch Time": start_ms,
        "Executor ID": executor, "Host": "h", "Locality": "ANY", "Speculative": False, "Getting Result Time": 0,
        "Finish Time": end_ms or 0, "Failed": False, "Killed": False, "Accumulables": [],
    }
    if end_ms is None:
        return {"Event": "SparkListenerTaskStart", "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": info}
    lost = {"Reason": "ExecutorLostFailure", "Executor ID": executor, "Exit Caused By App": True, "Loss Reason": "gone"}
    return {
        "Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask",
        "Task End Reason": {"Reason": "Success"} if heap is None else lost, "Task Info": info,
        "Task Executor Metrics": {"JVMHeapMemory": 50 if heap is None else heap},
    }


def memory(executor: str, heap: int) -> Dict[str, Any]:
    return {
        "Event": "SparkListenerStageExecutorMetrics", "Executor ID": executor, "Stage ID": 0, "Stage Attempt ID": 0,
        "Executor Metrics": {"JVMHeapMemory": heap},
    }


def shifted(value: Any, key: str = "") -> Any:
    """Times of 2023 instead of 1970, from which applications are not listed."""
    if isinstance(value, dict):
        return {inner: shifted(one, inner) for inner, one in value.items()}
    if isinstance(value, list):
        return [shifted(one) for one in value]
    return value + 1_700_000_040_000 if key.endswith(("Time", "Timestamp")) and value >= 1000 else value


def made_log() -> List[Dict[str, Any]]:
    def added(executor: str, at_ms: int) -> Dict[str, Any]:
        info = {"Host": "h", "Total Cores": 2, "Log Urls": {}, "Attributes": {}, "Resources": {}, "Resource Profile Id": 0}
        return {"Event": "SparkListenerExecutorAdded", "Timestamp": at_ms, "Executor ID": executor, "Executor Info": info}

    def removed(executor: str, at_ms: int, why: str) -> Dict[str, Any]:
        return {"Event": "SparkListenerExecutorRemoved", "Timestamp": at_ms, "Executor ID": executor, "Removed Reason": why}

    stage = {
        "Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 4, "RDD Info": [], "Parent IDs": [],
        "Details": "", "Submission Time": 1100, "Accumulables": [], "Resource Profile Id": 0,
    }
    return [shifted(event) for event in [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": "made", "App ID": APP, "Timestamp": 1000, "User": "u"},
        *(added(executor, 1050) for executor in "1234"),
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": 1090, "Stage Infos": [stage], "Stage IDs": [0],
         "Properties": {}},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": stage, "Properties": {}},
        *(task(number, executor, 1200, None) for number, executor in enumerate("1234")),
        removed("2", 1500, "first"), removed("2", 1600, "second"), task(1, "2", 1200, 1600, -1),
        task(0, "1", 1200, 1700), memory("2", 77), memory("3", -1),
        removed("3", 1800, "lost"), added("3", 1900), task(2, "3", 1200, 1950, -1),
        {"Event": "SparkListenerStageCompleted", "Stage Info": {**stage, "Completion Time": 2000}},
        removed("1", 2100, "idle"), task(3, "4", 1200, 2200), memory("1", 99), memory("2", 88),
        {"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 2300, "Job Result": {"Result": "JobSucceeded"}},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 2400},
    ]]


def executors(server: Server) -> Dict[str, Any]:
    return {one["id"]: one for one in json.loads(server.get(f"{base(server, True)}/allexecutors")[2])}


def test_tasks_of_executors_that_are_gone_do_not_count(server: Server) -> None:
    found = executors(server)
    counts = {one: [found[one][key] for key in ("activeTasks", "failedTasks", "completedTasks", "totalTasks", "totalDuration")]
              for one in found}
    # Executor 3 came back, as another one that had started nothing when the task of the first was lost.
    assert counts == {"1": [0, 0, 1, 1, 500], "2": [1, 0, 0, 1, 0], "3": [-1, 1, 0, 0, 750], "4": [0, 0, 1, 1, 1000]}
    assert found["2"]["removeReason"] == "first" and found["2"]["removeTime"].endswith(":01.500GMT")
    assert found["3"]["isActive"] and found["3"]["addTime"].endswith(":01.900GMT") and "removeReason" not in found["3"]


def test_memory_of_executors_that_are_gone(server: Server) -> None:
    heap = {one: found.get("peakMemoryMetrics", {}).get("JVMHeapMemory") for one, found in executors(server).items()}
    # Of executor 2 while a stage ran that began before it ended; executor 1 went when none of them did.
    assert heap == {"1": 99, "2": 88, "3": None, "4": 50}
    stage = json.loads(server.get(f"{base(server, True)}/stages/0/0")[2])
    shares = {one: share.get("peakMemoryMetrics", {}).get("JVMHeapMemory") for one, share in stage["executorSummary"].items()}
    assert shares == {"1": 50, "2": 77, "3": None, "4": 50}  # the stage is over once its last task is


# ---- Tasks that failed ---------------------------------------------------------------------------------------------


def test_metrics_of_failed_tasks_are_mixed_up(server: Server) -> None:
    tasks = json.loads(server.get(f"{base(server)}/stages/5/3/taskList?status=failed")[2])
    read = [one["taskMetrics"]["shuffleReadMetrics"] for one in tasks if "taskMetrics" in one]
    mixed = next(one for one in read if one["remoteReqsDuration"] == 94021891)
    assert [mixed[key] for key in ("remoteBlocksFetched", "remoteBytesRead", "localBytesRead", "recordsRead")] == [0, 0, 0, 791]
    push = mixed["shufflePushReadMetrics"]
    assert push["localMergedBlocksFetched"] == push["remoteMergedChunksFetched"] == 4
    assert push["remoteMergedBytesRead"] == 94024446 and push["remoteMergedReqsDuration"] == 8


# ---- Parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query, status", [
    ("jobs?status=", 200), ("stages?status=", 200), ("stages?details=false&taskStatus=", 200),
    ("stages/5/3?details=true&taskStatus=", 500), ("stages/5/3/taskList?status=", 500),
    ("stages/5/3/taskList?sortBy=", 200), ("stages/5/3/taskList?offset=%201", 404), ("stages/5/3/taskList?offset=%2B1", 200),
    ("stages/5/3/taskList?length=-", 404), ("jobs;a=b", 200), ("stages/5;a=b/3;c", 200), ("jobs/0//", 404),
    ("stages/5/3?details=false&withSummaries=true&quantiles=-1", 500),
    ("stages/5/3?details=false&withSummaries=true&quantiles=-1e300", 200),
    ("stages/5/3/taskSummary?quantiles=nan", 400), ("stages/5/3/taskSummary?quantiles=0x1", 400),
])
def test_status(server: Server, query: str, status: int) -> None:
    assert server.get(f"{base(server)}/{query}")[0] == status


def test_empty_values(server: Server) -> None:
    assert json.loads(server.get("applications?status=")[2]) == []
    assert json.loads(server.get(f"{base(server)}/jobs?status=")[2]) == []
    assert json.loads(server.get(f"{base(server)}/stages?status=&status=failed")[2])
    for path in ("stages/5/3", "sql?length=1", "stages/5/3/taskList?sortBy=ID"):
        plain = server.get(f"{base(server)}/{path}")[2]
        more = "&" if "?" in path else "?"
        assert server.get(f"{base(server)}/{path}{more}details=&planDescription=")[2] == plain


def test_quantiles(server: Server) -> None:
    many = ",".join(f"{number / 100:.2f}" for number in range(101))
    found = json.loads(server.get(f"{base(server)}/stages/0/0/taskSummary?quantiles={many}")[2])
    assert len(found["quantiles"]) == len(found["executorRunTime"]) == 101
    assert found["executorRunTime"] == sorted(found["executorRunTime"])
    unusual = server.get(f"{base(server)}/stages/0/0/taskSummary?quantiles=NaN,Infinity,0x1p-1,-Infinity,.5f")[2]
    assert json.loads(unusual)["quantiles"] == ["-Infinity", 0.5, 0.5, "Infinity", "NaN"]


def test_numbers_are_written_as_java_does(server: Server) -> None:
    given = "1e-3,0.0001,1e7,12345678.5,9999999,123456.75,1e22,0.1,-2.5e-7"
    found = server.get(f"{base(server)}/stages/0/0/taskSummary?quantiles={given}")[2].decode()
    line = next(line for line in found.splitlines() if '"quantiles"' in line)
    assert line.split("[ ")[1].split(" ]")[0].split(", ") == [
        "-2.5E-7", "1.0E-4", "0.001", "0.1", "123456.75", "9999999.0", "1.0E7", "1.23456785E7", "1.0E22",
    ]


@pytest.mark.parametrize("date, status", [
    ("-2015-01-01", 200), ("292278995-01-01", 200), ("2015--1-01", 200), ("2015-%2B1-01", 400), ("x", 400), ("99999-01-01", 200),
    ("999999999-999999999-999999999", 200), ("2015-01-01T999999999:999999999:999999999.999999999GMT", 200),
    ("2015-01-01T00:00:00.000GMT+999999999:00", 200), ("292278994-08-17T07:12:56.000GMT", 200),
])
def test_dates(server: Server, date: str, status: int) -> None:
    assert server.get(f"applications?minDate={date}")[0] == status


def test_order_of_members(server: Server) -> None:
    stage = json.loads(server.get(f"{base(server)}/stages/5/3?withSummaries=true")[2])
    names = list(stage)
    assert names[-2:] == ["isShufflePushEnabled", "shuffleMergersCount"]
    at = names.index("shuffleRemoteReqsDuration")
    assert names[at - 1 : at + 3] == [
        "shuffleMergedLocalBytesRead", "shuffleRemoteReqsDuration", "shuffleMergedRemoteReqsDuration", "shuffleWriteBytes",
    ]
