"""Push-based shuffle: shuffle services merge blocks, the stage ends when they have, and tasks read chunks of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import run_command
from test_unfinished_tasks import BEGIN, event, stage_info, task, written

TASKS, SLOTS, MERGE_MS = 8, 8, 9000
MIB = 1 << 20
PUSHED, READS = 1, 2


def reads(number: int, merged: bool, waits: bool) -> Dict[str, Any]:
    """Spark counts merged bytes and blocks in the totals too; a chunk holds 500 blocks."""
    blocks, size = 10_000, 40 * MIB
    chunks = blocks // 500
    push = {
        "Corrupt Merged Block Chunks": 0,
        "Merged Fetch Fallback Count": 1 if number == 0 else 0,
        "Merged Remote Blocks Fetched": blocks * merged,
        "Merged Local Blocks Fetched": 0,
        "Merged Remote Chunks Fetched": chunks * merged,
        "Merged Local Chunks Fetched": 0,
        "Merged Remote Bytes Read": size * merged,
        "Merged Local Bytes Read": 0,
        "Merged Remote Requests Duration": 40,
    }
    return {
        "Remote Blocks Fetched": blocks,
        "Local Blocks Fetched": 0,
        "Fetch Wait Time": 20_000 if waits else 0,
        "Remote Bytes Read": size,
        "Remote Bytes Read To Disk": 0,
        "Local Bytes Read": 100,
        "Total Records Read": 1000,
        "Remote Requests Duration": 50,
        "Push Based Shuffle": push,
    }


def run_of(merged: bool, mergers: int = 3, waits: bool = False) -> List[Dict[str, Any]]:
    """A stage as usual, a map stage that ends 9 s after its last task, and one that reads its output."""
    properties = {"spark.app.id": "app-1", "spark.master": "yarn", "spark.shuffle.push.enabled": "true"}
    properties.update({"spark.shuffle.service.enabled": "true", "spark.executor.instances": "2"})
    events = [
        event("LogStart", **{"Spark Version": "3.5.1"}),
        event("EnvironmentUpdate", **{"Spark Properties": properties}),
        event("ApplicationStart", **{"App Name": "pushed", "App ID": "app-1", "Timestamp": BEGIN, "User": "u"}),
    ]
    for number in range(2):
        info = {"Host": f"host{number}", "Total Cores": 4, "Log Urls": {}}
        events.append(event("ExecutorAdded", **{"Timestamp": BEGIN + 500, "Executor ID": str(number), "Executor Info": info}))
    stages = []
    for stage_id, parents in ((0, []), (PUSHED, [0]), (READS, [PUSHED])):
        count = mergers if stage_id == PUSHED else 0
        pushed = {"Shuffle Push Enabled": stage_id == PUSHED, "Shuffle Push Mergers Count": count}
        stages.append({**stage_info(), "Stage ID": stage_id, "Number of Tasks": TASKS, "Parent IDs": parents, **pushed})
    job = {"Job ID": 0, "Submission Time": BEGIN + 1000, "Stage Infos": stages, "Stage IDs": [0, PUSHED, READS]}
    events.append(event("JobStart", **job))
    at = 1000
    for stage in stages:
        stage["Submission Time"] = BEGIN + at
        events.append(event("StageSubmitted", **{"Stage Info": stage}))
        for number in range(TASKS):
            one = task("TaskEnd", number + TASKS * stage["Stage ID"], str(number % 2), at, at + 30_000)
            one["Stage ID"] = stage["Stage ID"]
            one["Task Info"]["Index"] = number
            one["Task Metrics"]["Shuffle Read Metrics"] = (
                reads(number, merged, waits) if stage["Stage ID"] == READS else {}
            )
            if stage["Stage ID"] != READS:
                written_by = {"Shuffle Bytes Written": 40 * MIB, "Shuffle Write Time": 0, "Shuffle Records Written": 1000}
                one["Task Metrics"]["Shuffle Write Metrics"] = written_by
            events.append(one)
        at += 30_000 + (MERGE_MS if stage["Stage ID"] == PUSHED else 0)
        events.append(event("StageCompleted", **{"Stage Info": {**stage, "Completion Time": BEGIN + at}}))
    events.append(event("JobEnd", **{"Job ID": 0, "Completion Time": BEGIN + at, "Job Result": {"Result": "JobSucceeded"}}))
    events.append(event("ApplicationEnd", **{"Timestamp": BEGIN + at + 500}))
    return events


@pytest.mark.parametrize("mergers", [0, 3])
def test_the_replay_waits_for_the_merge(diagnose: Any, tmp_path: Path, mergers: int) -> None:
    """Where nothing is merged, the time is of unknown cause, as before."""
    report = diagnose(written(tmp_path / "log", run_of(True, mergers))).json
    assert (report["replay"]["error_share"] == 0) == (mergers > 0)
    assert not {finding["rule"] for finding in report["findings"]} & {"driver-bound", "scheduler-delay", "shuffle-fetch-wait"}
    for account in (report["accounting"]["wall"], report["accounting"]["core"]):
        assert sum(part["ms"] for part in account["parts"]) == account["total_ms"]


def test_merged_bytes_count_once(binary: str, tmp_path: Path) -> None:
    events = run_of(True)
    log = written(tmp_path / "log", events)
    read = [one["Task Metrics"]["Shuffle Read Metrics"] for one in events if one["Event"] == "SparkListenerTaskEnd"]
    total = sum(one.get("Remote Bytes Read", 0) + one.get("Local Bytes Read", 0) for one in read)
    pushed = [one["Push Based Shuffle"] for one in read if one]
    statement = (
        "SELECT (SELECT sum(shuffle_read_bytes) FROM stages) AS stage_bytes, sum(push_remote_bytes) AS merged, "
        "sum(push_fallbacks) AS fallbacks, sum(push_remote_chunks) AS chunks FROM tasks"
    )
    (row,) = run_command([binary, "sql", "--format", "json", str(log), statement]).json
    assert row == {
        "stage_bytes": total,
        "merged": sum(one["Merged Remote Bytes Read"] for one in pushed),
        "fallbacks": 1,
        "chunks": sum(one["Merged Remote Chunks Fetched"] for one in pushed),
    }


@pytest.mark.parametrize("merged", [False, True])
def test_chunks_are_not_small_blocks(diagnose: Any, tmp_path: Path, merged: bool) -> None:
    """10,000 blocks of 4 KiB are too small to be fetched one by one; in 20 chunks they are not."""
    report = diagnose(written(tmp_path / "log", run_of(merged, waits=True))).json
    (waits,) = [finding for finding in report["findings"] if finding["rule"] == "shuffle-fetch-wait"]
    texts = " ".join(advice["text"] for advice in waits["advice"])
    assert ("fewer and larger blocks" in texts) != merged
