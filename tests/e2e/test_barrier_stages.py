"""Barrier stages: their tasks are launched together, and one that fails takes the work of all with it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Set

import pytest
from conftest import ROOT, run_command
from test_unfinished_tasks import BEGIN, event, stage_info, task, written

SECOND = 1000
FAILURE = "Stage failed because barrier task ShuffleMapTask(0, 1) finished unsuccessfully.\njava.io.IOException: torn"
RECORDED = ROOT / "tests" / "logs" / "clusters" / "barrier.zst"


def rdd(barrier: bool) -> Dict[str, Any]:
    return {"RDD ID": 1, "Name": "MapPartitionsRDD", "Parent IDs": [], "Barrier": barrier, "Number of Partitions": 4}


def ended(number: int, executor: str, launch: int, finish: int, reason: str = "Success", **where: Any) -> Dict[str, Any]:
    one = task("TaskEnd", number, executor, launch, finish)
    one["Task Info"].update({key: where[key] for key in ("Index", "Attempt") if key in where})
    one.update({key: value for key, value in where.items() if key.startswith("Stage")})
    if reason != "Success":
        killed = reason == "TaskKilled"
        one["Task Info"].update({"Failed": not killed, "Killed": killed})
        failure = {"Class Name": "java.io.IOException", "Description": "torn"}
        details = {"Kill Reason": "another one failed"} if killed else failure
        one["Task End Reason"] = {"Reason": reason, **details}
    return one


def run_of(
    barrier: bool, tasks: int, durations: List[int], executors: int, cores: int, fails: bool = False
) -> List[Dict[str, Any]]:
    """A stage of tasks of these durations (s), on as many slots; `fails`: task 1 fails in the first attempt after 20 s."""
    properties = {"spark.app.id": "app-1", "spark.master": "spark://host:7077"}
    properties["spark.executor.instances"] = str(executors)
    events = [
        event("LogStart", **{"Spark Version": "3.5.1"}),
        event("EnvironmentUpdate", **{"Spark Properties": properties}),
        event("ApplicationStart", **{"App Name": "together", "App ID": "app-1", "Timestamp": BEGIN, "User": "u"}),
    ]
    for number in range(executors):
        info = {"Host": f"host{number}", "Total Cores": cores, "Log Urls": {}}
        fields = {"Timestamp": BEGIN + 500, "Executor ID": str(number), "Executor Info": info}
        events.append(event("ExecutorAdded", **fields))
    stage = {**stage_info(), "Number of Tasks": tasks, "RDD Info": [rdd(barrier)]}
    job = {"Job ID": 0, "Submission Time": BEGIN + 1000, "Stage Infos": [stage], "Stage IDs": [0]}
    events.append(event("JobStart", **job))
    events.append(event("StageSubmitted", **{"Stage Info": stage}))
    at, number = 1000, 0
    if fails:
        for index in range(tasks):
            reason = "ExceptionFailure" if index == 1 else "TaskKilled"
            events.append(ended(number, str(index // cores), at, at + 20 * SECOND, reason, Index=index))
            number += 1
        at += 20 * SECOND
        failed = {**stage, "Completion Time": BEGIN + at, "Failure Reason": FAILURE}
        events.append(event("StageCompleted", **{"Stage Info": failed}))
        stage = {**stage, "Stage Attempt ID": 1, "Submission Time": BEGIN + at}
        events.append(event("StageSubmitted", **{"Stage Info": stage}))
    attempt = stage["Stage Attempt ID"]
    for index in range(tasks):
        finish = at + durations[index] * SECOND
        events.append(ended(number, str(index // cores), at, finish, Index=index, **{"Stage Attempt ID": attempt}))
        number += 1
    end = at + max(durations) * SECOND
    events.append(event("StageCompleted", **{"Stage Info": {**stage, "Completion Time": BEGIN + end}}))
    events.append(event("JobEnd", **{"Job ID": 0, "Completion Time": BEGIN + end, "Job Result": {"Result": "JobSucceeded"}}))
    events.append(event("ApplicationEnd", **{"Timestamp": BEGIN + end + 500}))
    return events


def rules_of(report: Dict[str, Any]) -> Set[str]:
    return {finding["rule"] for finding in report["findings"]}


@pytest.mark.parametrize("barrier", [False, True])
def test_tasks_that_wait_for_each_other_are_not_compared(diagnose: Any, tmp_path: Path, barrier: bool) -> None:
    """Without a barrier the late task is a straggler."""
    log = written(tmp_path / "log", run_of(barrier, 16, [20] * 15 + [200], executors=4, cores=4))
    found = rules_of(diagnose(log).json)
    assert ("straggler" in found) != barrier
    assert not found & {"data-skew", "locality-wait", "slow-host", "speculation-waste"}


@pytest.mark.parametrize("barrier", [False, True])
def test_no_advice_leaves_fewer_slots_than_tasks(diagnose: Any, tmp_path: Path, barrier: bool) -> None:
    """Four tasks on eight executors of one core: fewer of them do, but never fewer than four."""
    log = written(tmp_path / "log", run_of(barrier, 4, [300, 150, 10, 10], executors=8, cores=1))
    report = diagnose(log).json
    (idle,) = [finding for finding in report["findings"] if finding["rule"] == "idle-executors"]
    settings = {key: value for advice in idle["advice"] for key, value in advice["config"].items()}
    assert ("spark.dynamicAllocation.enabled" in settings) != barrier
    assert settings.get("spark.executor.instances", "4") == "4"
    assert ("too-few-partitions" in rules_of(report)) != barrier


def test_predictions_say_that_spark_would_refuse(binary: str, tmp_path: Path) -> None:
    for barrier in (False, True):
        log = written(tmp_path / "log", run_of(barrier, 4, [60] * 4, executors=2, cores=2))
        run = run_command([binary, "whatif", "--sweep", "executors=1..3", "--format", "json", str(log)])
        refused = ["Spark fails the job of stage 0" in json.dumps(scenario) for scenario in run.json["scenarios"]]
        assert refused == [barrier, False, False]


def test_a_failed_task_loses_the_work_of_all(diagnose: Any, tmp_path: Path) -> None:
    log = written(tmp_path / "log", run_of(True, 4, [60] * 4, executors=2, cores=2, fails=True))
    report = diagnose(log).json
    found = {finding["rule"]: finding for finding in report["findings"]}
    retries = found["stage-retries"]
    evidence = {one["metric"]: one["value"] for one in retries["evidence"]}
    assert evidence["repeated_task_ms"] == 4 * 20 * SECOND and evidence["fetch_failures"] == 0
    assert "barrier" in retries["cause"] and "shuffle files" not in retries["cause"]
    lost = {one["metric"]: one["value"] for one in found["task-failures"]["evidence"]}
    assert lost["failed_tasks"] == 1 and lost["lost_task_ms"] == 4 * 20 * SECOND
    assert found["task-failures"]["saves"]["wall_ms"]["expected"] == pytest.approx(20 * SECOND, rel=0.1)
    assert report["replay"]["error_share"] < 0.01
    for account in (report["accounting"]["wall"], report["accounting"]["core"]):
        assert sum(part["ms"] for part in account["parts"]) == account["total_ms"]
    parts = {part["name"]: part["ms"] for part in report["accounting"]["core"]["parts"]}
    assert parts["failed_tasks"] == 4 * 20 * SECOND


def test_the_recorded_run(diagnose: Any) -> None:
    """By Spark 3.5: a barrier stage with a late task, and one in which a task failed once."""
    lines = subprocess.run(["zstd", "-dc", str(RECORDED)], check=True, capture_output=True).stdout.splitlines()
    ends = [one for one in map(json.loads, lines) if one["Event"] == "SparkListenerTaskEnd"]
    failed = next(one for one in ends if one["Task End Reason"]["Reason"] == "ExceptionFailure")
    attempt = (failed["Stage ID"], failed["Stage Attempt ID"])
    lost = sum(
        one["Task Info"]["Finish Time"] - one["Task Info"]["Launch Time"]
        for one in ends
        if (one["Stage ID"], one["Stage Attempt ID"]) == attempt
    )
    report = diagnose(RECORDED).json
    found = {finding["rule"]: finding for finding in report["findings"]}
    assert set(found) <= {"task-failures", "stage-retries", "resource-wait"}
    for rule, metric in (("task-failures", "lost_task_ms"), ("stage-retries", "repeated_task_ms")):
        assert {one["metric"]: one["value"] for one in found[rule]["evidence"]}[metric] == lost
