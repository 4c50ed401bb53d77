"""Event logs of small runs, made of nothing: what Spark writes, with times and sizes that are easy to add up."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence

Event = Dict[str, Any]
BEGIN = 1_767_225_600_000  # 2026-01-01T00:00:00Z
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
DAY = 24 * HOUR
# Of run(): each slot has two tasks of a minute.
JOB_AT, TASK, WAVES = 2 * SECOND, MINUTE, 2
JOB_END = JOB_AT + WAVES * TASK
DURATION = JOB_END + 500
EXECUTORS, CORES = 2, 4
TASKS = EXECUTORS * CORES * WAVES
TASK_END = "SparkListenerTaskEnd"


def event(name: str, **fields: Any) -> Event:
    return {"Event": f"SparkListener{name}", **fields}


def settings(app: str, **more: str) -> Dict[str, str]:
    """Properties of a run; in names of `more`, _ stands for the period."""
    return {
        "spark.app.id": app,
        "spark.app.name": "wild",
        "spark.executor.cores": str(CORES),
        "spark.executor.instances": str(EXECUTORS),
        "spark.executor.memory": "4g",
        "spark.master": "spark://host:7077",
        **{name.replace("_", "."): value for name, value in more.items()},
    }


def environment(properties: Mapping[str, str]) -> Event:
    return event(
        "EnvironmentUpdate",
        **{
            "JVM Information": {"Java Version": "17.0.9 (Vendor)", "Java Home": "/java", "Scala Version": "version 2.12.18"},
            "Spark Properties": dict(properties),
            "Hadoop Properties": {},
            "System Properties": {"user.timezone": "UTC"},
            "Classpath Entries": {},
        },
    )


def head(app: str, version: str = "3.5.6", properties: Mapping[str, str] | None = None) -> List[Event]:
    """What Spark writes first."""
    start = {"App Name": "wild", "App ID": app, "Timestamp": BEGIN, "User": "ada"}
    return [
        event("LogStart", **{"Spark Version": version}),
        environment(settings(app) if properties is None else properties),
        event("ApplicationStart", **start),
    ]


def executor(number: int, cores: int = CORES, at_ms: int = SECOND, profile: int = 0, gpus: int = 0) -> Event:
    resources = {"gpu": {"name": "gpu", "addresses": [str(one) for one in range(gpus)]}} if gpus else {}
    info = {"Host": f"host-{number}", "Total Cores": cores, "Log Urls": {}, "Attributes": {}, "Resources": resources,
            "Resource Profile Id": profile}
    return event("ExecutorAdded", **{"Timestamp": BEGIN + at_ms, "Executor ID": str(number), "Executor Info": info})


def removed(number: int, at_ms: int, reason: str) -> Event:
    return event("ExecutorRemoved", **{"Timestamp": BEGIN + at_ms, "Executor ID": str(number), "Removed Reason": reason})


def stage(tasks: int, at_ms: int = JOB_AT, end_ms: int = 0, number: int = 0, profile: int = 0) -> Dict[str, Any]:
    info = {
        "Stage ID": number,
        "Stage Attempt ID": 0,
        "Stage Name": "count at Wild.scala:12",
        "Number of Tasks": tasks,
        "RDD Info": [],
        "Parent IDs": [],
        "Details": "",
        "Submission Time": BEGIN + at_ms,
        "Accumulables": [],
        "Resource Profile Id": profile,
    }
    return {**info, "Completion Time": BEGIN + end_ms} if end_ms else info


def metrics(run_ms: int) -> Dict[str, Any]:
    return {
        "Executor Deserialize Time": 10,
        "Executor Deserialize CPU Time": 9_000_000,
        "Executor Run Time": run_ms,
        "Executor CPU Time": run_ms * 900_000,
        "Peak Execution Memory": 0,
        "Result Size": 1000,
        "JVM GC Time": 0,
        "Result Serialization Time": 0,
        "Memory Bytes Spilled": 0,
        "Disk Bytes Spilled": 0,
        "Shuffle Read Metrics": {"Remote Blocks Fetched": 0, "Local Blocks Fetched": 0, "Fetch Wait Time": 0,
                                 "Remote Bytes Read": 0, "Remote Bytes Read To Disk": 0, "Local Bytes Read": 0,
                                 "Total Records Read": 0},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": 0, "Shuffle Write Time": 0, "Shuffle Records Written": 0},
        "Input Metrics": {"Bytes Read": 0, "Records Read": 0},
        "Output Metrics": {"Bytes Written": 0, "Records Written": 0},
        "Updated Blocks": [],
    }


def task(number: int, where: int, begin_ms: int, end_ms: int = 0, **fields: Any) -> Event:
    """The start of a task, or its end if `end_ms` is given; `fields` change its Task Info."""
    info = {
        "Task ID": number,
        "Index": number,
        "Attempt": 0,
        "Partition ID": number,
        "Launch Time": BEGIN + begin_ms,
        "Executor ID": str(where),
        "Host": f"host-{where}",
        "Locality": "PROCESS_LOCAL",
        "Speculative": False,
        "Getting Result Time": 0,
        "Finish Time": BEGIN + end_ms if end_ms else 0,
        "Failed": False,
        "Killed": False,
        "Accumulables": [],
        **fields,
    }
    of_stage = {"Stage ID": 0, "Stage Attempt ID": 0}
    if not end_ms:
        return event("TaskStart", **of_stage, **{"Task Info": info})
    end = {"Task Type": "ResultTask", "Task End Reason": {"Reason": "Success"}, "Task Info": info}
    return event("TaskEnd", **of_stage, **end, **{"Task Metrics": metrics(end_ms - begin_ms - 20)})


def job_start(tasks: int, profile: int = 0) -> List[Event]:
    info = stage(tasks, profile=profile)
    job = {"Job ID": 0, "Submission Time": BEGIN + JOB_AT, "Stage Infos": [info], "Stage IDs": [0], "Properties": {}}
    return [event("JobStart", **job), event("StageSubmitted", **{"Stage Info": info, "Properties": {}})]


def job_end(tasks: int, end_ms: int = JOB_END, profile: int = 0) -> List[Event]:
    done = stage(tasks, end_ms=end_ms, profile=profile)
    result = {"Job ID": 0, "Completion Time": BEGIN + end_ms, "Job Result": {"Result": "JobSucceeded"}}
    return [event("StageCompleted", **{"Stage Info": done}), event("JobEnd", **result)]


def waves(slots: int, executors: int = EXECUTORS, count: int = WAVES) -> List[Event]:
    """Tasks of a minute in all slots of all executors, one wave after the other."""
    made: List[Event] = []
    for wave in range(count):
        first, begin = wave * executors * slots, JOB_AT + wave * TASK
        numbers = range(first, first + executors * slots)
        made += [task(one, 1 + one % executors, begin) for one in numbers]
        made += [task(one, 1 + one % executors, begin, begin + TASK) for one in numbers]
    return made


def run(app: str, version: str = "3.5.6", properties: Mapping[str, str] | None = None) -> List[Event]:
    """A healthy run: 2 executors with 4 cores each, one job of 16 tasks, all slots busy."""
    return [
        *head(app, version, properties),
        *(executor(number) for number in range(1, EXECUTORS + 1)),
        *job_start(TASKS),
        *waves(CORES),
        *job_end(TASKS),
        event("ApplicationEnd", Timestamp=BEGIN + DURATION),
    ]


def lines(events: Iterable[Event]) -> bytes:
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in events)


def named(events: Sequence[Event], name: str) -> List[Event]:
    """Events of a kind, to be changed in place."""
    return [one for one in events if one["Event"] == f"SparkListener{name}"]


def without(events: Iterable[Event], *names: str) -> List[Event]:
    return [one for one in events if one["Event"] not in {f"SparkListener{name}" for name in names}]


def changed(app: str, change: Callable[[List[Event]], None]) -> bytes:
    """The healthy run after a change of its events."""
    events = run(app)
    change(events)
    return lines(events)
