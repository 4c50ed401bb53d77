"""Summaries of stages with many tasks: what the tasks themselves give, also when they were asked for before."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Dict, List, Tuple

from servers.pyrometer import Server

START_MS = 1700000000000
APP = "app-20231114000000-0001"
TASKS = 3000  # a summary of this many is kept
QUANTILES = (0.0, 0.01, 0.3, 0.5, 0.999, 1.0)
SHUFFLE_READ = ("Remote Blocks Fetched", "Local Blocks Fetched", "Fetch Wait Time", "Remote Bytes Read")
SHUFFLE_READ += ("Remote Bytes Read To Disk", "Local Bytes Read", "Total Records Read")


def stage_info(stage: int) -> Dict[str, Any]:
    return {"Stage ID": stage, "Stage Attempt ID": 0, "Stage Name": "n", "Number of Tasks": TASKS, "RDD Info": []}


def begin() -> List[Dict[str, Any]]:
    events: List[Dict[str, Any]] = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": APP, "Timestamp": START_MS, "User": "u"},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": START_MS, "Stage IDs": [0, 1]},
    ]
    events[-1]["Stage Infos"] = [stage_info(0), stage_info(1)]
    for stage in (0, 1):
        events.append({"Event": "SparkListenerStageSubmitted", "Stage Info": stage_info(stage), "Properties": {}})
        events[-1]["Stage Info"]["Submission Time"] = START_MS
    return events


def metrics(draw: random.Random) -> Dict[str, Any]:
    """Some columns all alike, some mostly 0, some spread over many orders of magnitude."""
    large = draw.randrange(10 ** draw.randrange(1, 16))
    return {
        "Executor Deserialize Time": draw.randrange(3),
        "Executor Run Time": draw.randrange(100, 5000),
        "Executor CPU Time": large,
        "Result Size": 1234,
        "JVM GC Time": draw.choice((0, 0, 0, 17)),
        "Memory Bytes Spilled": draw.choice((0,) * 99 + (10**12,)),
        "Shuffle Read Metrics": {name: draw.randrange(1 << 20) for name in SHUFFLE_READ},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": large // 7, "Shuffle Records Written": 1},
        "Input Metrics": {"Bytes Read": large % 4099, "Records Read": 5},
    }


def tasks(first: int, count: int, draw: random.Random) -> List[Dict[str, Any]]:
    """They end in another order than they start, those of two stages among each other; some fail, some never end."""
    starts, ends = [], []
    for task in range(first, first + count):
        info = {"Task ID": task, "Index": task, "Attempt": 0, "Executor ID": "1", "Host": "h", "Locality": "ANY"}
        info["Launch Time"] = START_MS + task
        stage = draw.choice((0, 0, 0, 1))
        starts.append({"Event": "SparkListenerTaskStart", "Stage ID": stage, "Stage Attempt ID": 0, "Task Info": info})
        if draw.random() < 0.01:
            continue
        failed = draw.random() < 0.02
        ended = dict(info, Failed=failed)
        ended["Finish Time"] = START_MS + task + draw.randrange(20000)
        ended["Getting Result Time"] = ended["Finish Time"] - 3 if draw.random() < 0.1 else 0
        reason: Dict[str, Any] = {"Reason": "Success"}
        if failed:
            reason = {"Reason": "ExceptionFailure", "Class Name": "c", "Description": "d", "Full Stack Trace": "t"}
        event = {"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Stage Attempt ID": 0, "Task Type": "ResultTask"}
        ends.append(dict(event, **{"Task End Reason": reason, "Task Info": ended, "Task Metrics": metrics(draw)}))
    for at in range(0, len(ends), 16):
        block = ends[at : at + 16]
        draw.shuffle(block)
        ends[at : at + 16] = block
    return starts + ends


def append(log: Path, events: List[Dict[str, Any]]) -> None:
    with log.open("a", encoding="ascii") as stream:
        for event in events:
            stream.write(json.dumps(event, separators=(",", ":")) + "\n")


def get(server: Server, path: str) -> Any:
    status, _, body = server.get(f"applications/{APP}/{path}")
    assert status == 200, body
    return json.loads(body)


def picked(values: List[int], succeeded: int) -> List[float]:
    values.sort()
    return [float(values[min(int(share * succeeded), succeeded - 1)]) for share in QUANTILES]


def expected(listed: List[Dict[str, Any]]) -> Dict[str, List[float]]:
    ended = [task for task in listed if "taskMetrics" in task]
    good = [task["taskMetrics"] for task in ended if task["status"] == "SUCCESS"]
    assert 0 < len(good) < len(ended) < len(listed)
    count = len(good)
    found = {name: picked([one[name] for one in good], count) for name, value in good[0].items() if isinstance(value, int)}
    found["duration"] = picked([task.get("duration", 0) for task in ended], count)
    for name in ("schedulerDelay", "gettingResultTime"):
        found[name] = picked([task[name] for task in ended], count)
    for part in ("inputMetrics", "outputMetrics"):
        for name in good[0][part]:
            found[f"{part}.{name}"] = picked([one[part][name] for one in good], count)
    read = [one["shuffleReadMetrics"] for one in good]
    for name in ("remoteBlocksFetched", "localBlocksFetched", "fetchWaitTime", "remoteBytesRead"):
        found[f"shuffleReadMetrics.{name}"] = picked([one[name] for one in read], count)
    both = [one["localBytesRead"] + one["remoteBytesRead"] for one in read]
    found["shuffleReadMetrics.readBytes"] = picked(both, count)
    written = [one["shuffleWriteMetrics"]["bytesWritten"] for one in good]
    found["shuffleWriteMetrics.writeBytes"] = picked(written, count)
    return found


def value_of(summary: Dict[str, Any], name: str) -> Any:
    for part in name.split("."):
        summary = summary[part]
    return summary


def check(server: Server, stage: int) -> Tuple[int, Dict[str, Any]]:
    listed = get(server, f"stages/{stage}/0/taskList?length=1000000")
    question = "quantiles=" + ",".join(map(str, QUANTILES))
    summary = get(server, f"stages/{stage}/0/taskSummary?{question}")
    assert get(server, f"stages/{stage}/0/taskSummary?{question}") == summary
    for name, values in expected(listed).items():
        assert value_of(summary, name) == values, name
    whole = get(server, f"stages/{stage}/0?details=false&withSummaries=true&{question}")
    assert whole["taskMetricsDistributions"] == summary
    return len(listed), summary


def test_summaries_of_a_log_that_grows(tmp_path: Path) -> None:
    draw = random.Random(7)
    log = tmp_path / f"{APP}.inprogress"
    append(log, begin() + tasks(0, TASKS, draw))
    with Server(tmp_path, "--update-interval", "100ms") as server:
        before = [check(server, stage) for stage in (0, 1)]
        append(log, tasks(TASKS, TASKS, draw))
        while len(get(server, "stages/0/0/taskList?length=1000000")) == before[0][0]:
            pass
        after = [check(server, stage) for stage in (0, 1)]
    assert sum(count for count, _ in before) == TASKS and sum(count for count, _ in after) == 2 * TASKS
    assert all(old[1] != new[1] for old, new in zip(before, after))
