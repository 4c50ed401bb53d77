"""The accounts of a run are the same, whether its event log or the REST API is read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Iterator

import conftest
import pytest
from servers.pyrometer import Server

LOGS = sorted((conftest.ROOT / "corpus" / "logs").glob("*.zst"))


def diagnose(*arguments: object) -> Any:
    words = [str(conftest.binary_path()), "diagnose", "--format", "json", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def account_of(report: Any) -> Any:
    parts = {name: account["parts"] for name, account in report["accounting"].items() if name in ("wall", "core")}
    return {**parts, "bounds": report["bounds"]}


def different(local: Any, remote: Any) -> Iterator[str]:
    for name, value in account_of(local).items():
        if account_of(remote)[name] != value:
            yield f"{name}: {value} by the log, {account_of(remote)[name]} by REST"


@pytest.fixture(scope="module")
def reports() -> Any:
    """Of all recorded runs, by the id of the application; two runs may not share one."""
    found = {}
    for report in diagnose(*LOGS)["reports"]:
        found.setdefault(report["application"]["id"], []).append(report)
    return {app: runs[0] for app, runs in found.items() if len(runs) == 1}


def test_every_recorded_run_has_the_same_accounts_by_rest(reports: Any, tmp_path: Path) -> None:
    assert len(reports) > len(LOGS) - 5
    with Server(conftest.ROOT / "corpus" / "logs") as server:
        pages = [f"http://{server.host}:{server.port}/history/{app}" for app in reports]
        remote = diagnose("--remote", "rest", *pages)["reports"]
    assert [report["application"]["id"] for report in remote] == list(reports)
    wrong = {}
    for report in remote:
        assert report["integrity"]["source"]["kind"] == "rest" and report["integrity"]["confidence"] <= 0.9
        found = list(different(reports[report["application"]["id"]], report))
        if found:
            wrong[report["application"]["name"]] = found
    assert not wrong


def lost_task(metrics: Any) -> list[Any]:
    """A run of 40 s of one executor that is lost, with a task whose metrics are as given."""
    start = 1700000000000
    stage = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 2, "RDD Info": [],
             "Parent IDs": [], "Details": "", "Submission Time": start + 1000, "Accumulables": []}
    info = {"Index": 0, "Attempt": 0, "Partition ID": 0, "Launch Time": start + 1000, "Executor ID": "1",
            "Host": "h", "Locality": "ANY", "Speculative": False, "Getting Result Time": 0, "Finish Time": start + 31000,
            "Failed": True, "Killed": False, "Accumulables": []}
    reason = {"Reason": "ExecutorLostFailure", "Executor ID": "1", "Exit Caused By App": True,
              "Loss Reason": "Command exited with code 137"}
    end = {"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask"}
    good = {"Executor Run Time": 8000, "Executor Deserialize Time": 500, "Result Serialization Time": 1,
            "JVM GC Time": 50}
    lost = {**end, "Task End Reason": reason, "Task Info": {"Task ID": 0, **info}}
    if metrics != "absent":
        lost["Task Metrics"] = metrics
    second = {**info, "Index": 1, "Partition ID": 1, "Failed": False, "Finish Time": start + 10000}
    return [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": "lost", "App ID": "app-1", "Timestamp": start, "User": "u"},
        {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {}, "Spark Properties": {"spark.master": "yarn"},
         "Hadoop Properties": {}, "System Properties": {}, "Metrics Properties": {}, "Classpath Entries": {}},
        {"Event": "SparkListenerExecutorAdded", "Timestamp": start + 500, "Executor ID": "1",
         "Executor Info": {"Host": "h", "Total Cores": 2, "Log Urls": {}, "Attributes": {}, "Resources": {},
                           "Resource Profile Id": 0}},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": start + 900, "Stage Infos": [stage],
         "Stage IDs": [0], "Properties": {}},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": stage, "Properties": {}},
        {"Event": "SparkListenerTaskStart", "Stage ID": 0, "Stage Attempt ID": 0,
         "Task Info": {"Task ID": 0, **info, "Finish Time": 0, "Failed": False}},
        {"Event": "SparkListenerTaskStart", "Stage ID": 0, "Stage Attempt ID": 0,
         "Task Info": {"Task ID": 1, **second, "Finish Time": 0}},
        {**end, "Task End Reason": {"Reason": "Success"}, "Task Info": {"Task ID": 1, **second}, "Task Metrics": good},
        lost,
        {"Event": "SparkListenerStageCompleted",
         "Stage Info": {**stage, "Completion Time": start + 31000, "Failure Reason": "lost"}},
        {"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": start + 31000,
         "Job Result": {"Result": "JobFailed", "Exception": {"Message": "lost", "Stack Trace": []}}},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": start + 40000},
    ]


ZEROS = {"Executor Run Time": 0, "Executor Deserialize Time": 0, "Result Serialization Time": 0, "JVM GC Time": 0}
MISSING = {
    "absent": "absent",
    "null": None,
    "empty": {},
    "all zero": ZEROS,
    "no run time": {"Executor Deserialize Time": 0, "JVM GC Time": 0, "Result Size": 0},
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_metrics_are_unknown_both_ways(tmp_path: Path, name: str) -> None:
    """No scheduler delay of 100 %: what a lost task did is unknown, and counts as computing."""
    log = tmp_path / "app-1"
    log.write_text("".join(json.dumps(event) + "\n" for event in lost_task(MISSING[name])))
    local = diagnose(log)
    with Server(tmp_path) as server:
        remote = diagnose("--remote", "rest", f"http://{server.host}:{server.port}/history/app-1")
    assert not list(different(local, remote))
    wall = {part["name"]: part["ms"] for part in local["accounting"]["wall"]["parts"]}
    assert wall["scheduler_delay"] < 1000 and wall["compute"] > 20000
