"""Logs of Databricks: each file says its number, there is no LogStart, and Photon says itself what memory it took."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, List

import pytest

import conftest

START = 1_700_000_000_000


def event(name: str, **fields: Any) -> bytes:
    return json.dumps({"Event": name, **fields}, separators=(",", ":")).encode() + b"\n"


def metadata(number: int) -> bytes:
    return event("DBCEventLoggingListenerMetadata", **{"Rollover Number": number, "Spark Version": "3.4.1",
                                                       "Timestamp": START + number * 1000, "SparkContext Id": "5423"})


def task(number: int, updates: List[Any], peak: int = 0) -> bytes:
    accumulables = [{"ID": i, "Name": name, "Update": value, "Value": "9", "Internal": True, "Count Failed Values": True, "Metadata": "sql"}
                    for i, (name, value) in enumerate(updates)]
    info = {"Task ID": number, "Index": number, "Attempt": 0, "Launch Time": START + 100, "Executor ID": "0", "Host": "h", "Locality": "ANY",
            "Speculative": False, "Getting Result Time": 0, "Finish Time": START + 900, "Failed": False, "Killed": False,
            "Accumulables": accumulables}
    metrics = {"Executor Run Time": 700, "Executor CPU Time": 600_000_000, "Peak Execution Memory": peak, "Result Size": 10, "JVM GC Time": 0}
    return event("SparkListenerTaskEnd", **{"Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask",
                                            "Task End Reason": {"Reason": "Success"}, "Task Info": info, "Task Metrics": metrics})


def files(tasks: bytes = b"") -> List[bytes]:
    stage = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 1, "RDD Info": [], "Parent IDs": [], "Details": "",
             "Submission Time": START + 50, "Accumulables": []}
    first = (event("SparkListenerApplicationStart", **{"App Name": "Databricks Shell", "App ID": "app-20240101000000-0000", "Timestamp": START,
                                                      "User": "root"})
             + event("SparkListenerJobStart", **{"Job ID": 0, "Submission Time": START + 40, "Stage Infos": [stage], "Stage IDs": [0],
                                                 "Properties": {}})
             + event("SparkListenerStageSubmitted", **{"Stage Info": stage, "Properties": {}}))
    last = (event("SparkListenerStageCompleted", **{"Stage Info": {**stage, "Completion Time": START + 950}})
            + event("SparkListenerJobEnd", **{"Job ID": 0, "Completion Time": START + 960, "Job Result": {"Result": "JobSucceeded"}})
            + event("SparkListenerApplicationEnd", Timestamp=START + 1000))
    parts = [first, tasks, b"", last]
    return [metadata(i) + part for i, part in enumerate(parts)]


def write(folder: Path, parts: List[bytes], kept: List[int]) -> Path:
    """Only the newest file has no time in its name."""
    folder.mkdir()
    for i in kept:
        if i == len(parts) - 1:
            (folder / "eventlog").write_bytes(parts[i])
        else:
            (folder / f"eventlog-2024-01-01--00-{i:02}.gz").write_bytes(gzip.compress(parts[i]))
    return folder


@pytest.mark.parametrize("kept,missing", [([0, 1, 2, 3], 0), ([0, 3], 2), ([1, 2, 3], 1), ([3], 3), ([0, 1, 3], 1)])
def test_numbers_of_files(diagnose: Any, tmp_path: Path, kept: List[int], missing: int) -> None:
    run = diagnose(write(tmp_path / "log", files(task(0, [])), kept))
    assert run.exit == 0, run.explain()
    integrity, whole = run.json["integrity"], diagnose(write(tmp_path / "whole", files(task(0, [])), [0, 1, 2, 3])).json["integrity"]
    assert integrity["missing_parts"] == missing and not integrity["unknown_events"]
    assert integrity["beginning_missing"] == (0 not in kept)
    assert integrity["confidence"] <= max(0.05, whole["confidence"] - min(0.5, 0.2 * missing)) + 1e-6
    assert run.json["application"]["spark_version"] == "3.4.1"


def test_versions_in_lists(tmp_path: Path) -> None:
    from servers.pyrometer import Server  # noqa: PLC0415

    write(tmp_path / "log", files(), [0, 1, 2, 3])
    with Server(tmp_path) as server:
        (listed,) = json.loads(server.get("applications")[2])
    assert listed["attempts"][0]["appSparkVersion"] == "3.4.1"


def peaks(binary: str, path: Path, *options: str) -> Any:
    statement = "SELECT id, peak_execution_memory_bytes FROM tasks ORDER BY id"
    run = conftest.run_command([binary, "sql", *options, str(path), statement, "--format", "json"])
    assert run.exit == 0, run.explain()
    return [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in run.json]


def test_memory_of_photon(binary: str, tmp_path: Path) -> None:
    """What its operators say, if that is more than what Spark says; several operators of a task are added, as Spark adds its own."""
    tasks = (task(0, [("peak memory usage", "5000"), ("number of output rows", "77000")]) + task(1, [("peak memory usage", "5000"),
             ("peak memory usage", "300")], peak=70) + task(2, [("peak memory usage", "10")], peak=70) + task(3, [], peak=70)
             + task(4, [("peak memory usage", {"a": 1}), ("peak memory usage", "-4"), ("data sent", "9999")]))
    expected = [(0, 5000), (1, 5300), (2, 70), (3, 70), (4, 0)]
    folder = write(tmp_path / "log", files(tasks), [0, 1, 2, 3])
    plain = tmp_path / "plain"
    plain.write_bytes(b"".join(files(tasks)))
    for path in (folder, plain):
        for threads in ("1", "2"):
            assert peaks(binary, path, "--threads", threads) == expected
    plain.write_bytes(b"".join(files(tasks)).replace(b"DBCEventLoggingListenerMetadata", b"SparkListenerLogStart"))
    assert [row[1] for row in peaks(binary, plain)] == [0, 70, 70, 70, 0]
