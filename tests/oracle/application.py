"""Reads the records of one log into plain objects: what docs/formulas.md computes from, and the counters of the log."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Set, Tuple

from known_events import KNOWN_EVENTS
from logfiles import Log, plain_bytes

StageKey = Tuple[int, int]


class Rejected(Exception):
    """A record that cannot be what it says it is."""


def integer(record: Dict[str, Any], key: str, default: int = 0) -> int:
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        return default
    if not -(2**63) <= value < 2**63:
        raise Rejected(f"{key} has more than 64 bits")
    return value


def time_of(record: Dict[str, Any], key: str) -> Optional[int]:
    """A time, or None where it is absent; Spark writes -1 or 0 for an unknown one."""
    value = integer(record, key)
    return value if value > 0 else None


def identity_of(record: Dict[str, Any], key: str) -> int:
    """A number without which the record cannot be distinguished from others of its kind."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Rejected(f"no {key}")
    return integer(record, key)


def text(record: Dict[str, Any], key: str) -> Optional[str]:
    value = record.get(key)
    return value if isinstance(value, str) else None


def child(record: Dict[str, Any], key: str) -> Dict[str, Any]:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


@dataclass
class Task:
    """One TaskEnd record."""

    stage: StageKey
    executor: Optional[str]
    launch: int
    finish: int
    reason: Optional[str]
    failed: bool
    killed: bool
    has_metrics: bool
    getting_result_since: int
    deserialize_ms: int
    run_ms: int
    run_time_known: bool
    cpu_ns: int
    gc_ms: int
    result_serialize_ms: int
    memory_spill_bytes: int
    disk_spill_bytes: int
    input_bytes: int
    output_bytes: int
    fetch_wait_ms: int
    shuffle_read_bytes: int
    shuffle_write_bytes: int
    shuffle_write_ns: int
    index: int = -1
    partition: int = -1
    speculative: bool = False
    unfinished: bool = False  # it started, and has no end in the log

    @property
    def resubmitted(self) -> bool:
        return self.reason == "Resubmitted"

    @property
    def succeeded(self) -> bool:
        return not (self.failed or self.killed or self.resubmitted)

    @property
    def duration(self) -> int:
        if self.launch <= 0 or self.finish <= 0:
            return 0
        return max(0, self.finish - self.launch)


# What a TaskStart record does not say.
UNKNOWN_END: Dict[str, Any] = {
    "finish": 0,
    "reason": None,
    "failed": False,
    "killed": False,
    **{
        metric: 0
        for metric in (
            "has_metrics getting_result_since deserialize_ms run_ms run_time_known cpu_ns gc_ms result_serialize_ms memory_spill_bytes "
            "disk_spill_bytes input_bytes output_bytes fetch_wait_ms shuffle_read_bytes shuffle_write_bytes shuffle_write_ns"
        ).split()
    },
}


@dataclass
class Stage:
    """One stage attempt."""

    id: int
    attempt: int
    name: Optional[str] = None
    submit_events: int = 0
    completed_seen: bool = False
    submitted: Optional[int] = None
    completed: Optional[int] = None
    failure: Optional[str] = None
    parents: List[int] = field(default_factory=list)
    resource_profile: int = 0
    partitions: int = 0

    @property
    def ran(self) -> bool:
        return self.submit_events > 0 or self.submitted is not None


@dataclass
class Job:
    id: int
    stage_ids: List[int]
    submitted: Optional[int]
    sql: Optional[int]
    completed: Optional[int] = None
    ended: bool = False


@dataclass
class Executor:
    id: str
    host: Optional[str] = None
    cores: int = 0
    added: Optional[int] = None
    registered: Optional[int] = None
    removed: Optional[int] = None
    remove_reason: Optional[str] = None
    # ("added", time, cores) and ("removed", time, 0) in log order.
    history: List[Tuple[str, int, int]] = field(default_factory=list)


@dataclass
class Application:
    id: Optional[str] = None
    name: Optional[str] = None
    attempt: Optional[str] = None
    user: Optional[str] = None
    spark_version: Optional[str] = None
    start_seen: Optional[int] = None
    end_seen: Optional[int] = None
    properties: Dict[str, str] = field(default_factory=dict)
    times: List[int] = field(default_factory=list)
    tasks: List[Task] = field(default_factory=list)
    started: Dict[int, Task] = field(default_factory=dict)  # by id: TaskStart records
    ended_ids: Set[int] = field(default_factory=set)
    stages: Dict[StageKey, Stage] = field(default_factory=dict)
    jobs: Dict[int, Job] = field(default_factory=dict)
    listed_parents: Dict[int, List[int]] = field(default_factory=dict)
    executors: Dict[str, Executor] = field(default_factory=dict)
    profile_cpus: Dict[int, int] = field(default_factory=dict)
    failed_jobs: int = 0
    failed_stages: int = 0
    # About the log itself.
    bytes: int = 0
    lines: int = 0
    bad_lines: int = 0
    damaged: bool = False
    events: "Counter[str]" = field(default_factory=Counter)
    repeated_events: int = 0

    @property
    def start(self) -> Optional[int]:
        return self.start_seen if self.start_seen is not None else min(self.times, default=None)

    @property
    def end(self) -> Optional[int]:
        return self.end_seen if self.end_seen is not None else max(self.times, default=None)

    @property
    def id_or_property(self) -> Optional[str]:
        return self.id or self.properties.get("spark.app.id")

    @property
    def name_or_property(self) -> Optional[str]:
        return self.name or self.properties.get("spark.app.name")

    def stage(self, key: StageKey) -> Stage:
        return self.stages.setdefault(key, Stage(*key))

    def see(self, *times: Optional[int]) -> None:
        self.times += [time for time in times if time is not None and time > 0]


class Reader:
    """Takes records in log order."""

    def __init__(self) -> None:
        self.app = Application()
        self.identities: Set[Tuple[Any, ...]] = set()
        self.handlers = {
            "SparkListenerLogStart": self.log_start,
            "SparkListenerApplicationStart": self.application_start,
            "SparkListenerApplicationEnd": self.application_end,
            "SparkListenerEnvironmentUpdate": self.environment,
            "SparkListenerResourceProfileAdded": self.resource_profile,
            "SparkListenerExecutorAdded": self.executor_added,
            "SparkListenerExecutorRemoved": self.executor_removed,
            "SparkListenerBlockManagerAdded": self.block_manager,
            "SparkListenerBlockManagerRemoved": self.block_manager,
            "SparkListenerJobStart": self.job_start,
            "SparkListenerJobEnd": self.job_end,
            "SparkListenerStageSubmitted": self.stage_submitted,
            "SparkListenerStageCompleted": self.stage_completed,
            "SparkListenerTaskStart": self.task_start,
            "SparkListenerTaskEnd": self.task_end,
            "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart": self.sql_start,
            "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd": self.sql_end,
            "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate": self.sql_adaptive_update,
        }

    def line(self, raw: bytes) -> None:
        self.app.lines += 1
        if not raw.strip():
            return
        try:
            record = json.loads(raw.decode("utf-8", errors="replace"))
            name = record["Event"] if isinstance(record, dict) else None
            if not isinstance(name, str):
                raise Rejected("not a record of an event")
            handler = self.handlers.get(name)
            if handler:
                handler(record)
        except (ValueError, KeyError, RecursionError, Rejected):
            self.app.bad_lines += 1
            return
        self.app.events[name] += 1

    def identity(self, *what: Any) -> None:
        if what in self.identities:
            self.app.repeated_events += 1
        self.identities.add(what)

    # ---- one method an event ------------------------------------------------------------------------------------

    def log_start(self, record: Dict[str, Any]) -> None:
        self.app.spark_version = text(record, "Spark Version") or self.app.spark_version

    def application_start(self, record: Dict[str, Any]) -> None:
        self.identity("application start")
        app = self.app
        app.start_seen = time_of(record, "Timestamp") or app.start_seen
        app.see(app.start_seen)
        app.id = text(record, "App ID") or app.id
        app.name = text(record, "App Name") or app.name
        app.user = text(record, "User") or app.user
        app.attempt = text(record, "App Attempt ID") or app.attempt

    def application_end(self, record: Dict[str, Any]) -> None:
        self.identity("application end")
        self.app.end_seen = time_of(record, "Timestamp") or self.app.end_seen
        self.app.see(self.app.end_seen)

    def environment(self, record: Dict[str, Any]) -> None:
        for key, value in child(record, "Spark Properties").items():
            if isinstance(value, str):
                self.app.properties[key] = value

    def resource_profile(self, record: Dict[str, Any]) -> None:
        amount = child(child(record, "Task Resource Requests"), "cpus").get("Amount")
        if isinstance(amount, (int, float)) and amount >= 1:
            self.app.profile_cpus[integer(record, "Resource Profile Id")] = int(amount)

    def executor_added(self, record: Dict[str, Any]) -> None:
        executor_id = text(record, "Executor ID")
        if executor_id is None:
            raise Rejected("no Executor ID")
        time = integer(record, "Timestamp")
        self.identity("executor added", executor_id, time)
        self.app.see(time)
        info = child(record, "Executor Info")
        executor = self.app.executors.setdefault(executor_id, Executor(executor_id))
        executor.host = text(info, "Host")
        executor.cores = max(0, integer(info, "Total Cores"))
        if executor.added is None:
            executor.added = time
            registered = integer(info, "Registration Time")
            executor.registered = registered if 0 < registered < time else time
        executor.removed = None
        executor.remove_reason = None
        executor.history.append(("added", time, executor.cores))

    def executor_removed(self, record: Dict[str, Any]) -> None:
        executor_id = text(record, "Executor ID")
        if executor_id is None:
            raise Rejected("no Executor ID")
        time = integer(record, "Timestamp")
        self.identity("executor removed", executor_id, time)
        self.app.see(time)
        executor = self.app.executors.get(executor_id)
        if executor is not None:
            executor.removed = time
            executor.remove_reason = text(record, "Removed Reason")
            executor.history.append(("removed", time, 0))

    def block_manager(self, record: Dict[str, Any]) -> None:
        self.app.see(time_of(record, "Timestamp"))

    def job_start(self, record: Dict[str, Any]) -> None:
        job_id = identity_of(record, "Job ID")
        self.identity("job start", job_id)
        infos = [info for info in record.get("Stage Infos") or [] if isinstance(info, dict)]
        for info in infos:
            self.app.listed_parents[integer(info, "Stage ID", -1)] = self.parents(info)
        ids = record.get("Stage IDs")
        stage_ids = (
            [stage for stage in ids if isinstance(stage, int)]
            if isinstance(ids, list)
            else [integer(info, "Stage ID", -1) for info in infos]
        )
        execution = text(child(record, "Properties"), "spark.sql.execution.id")
        sql = int(execution) if execution is not None and execution.isdigit() else None
        submitted = time_of(record, "Submission Time")
        self.app.see(submitted)
        known = self.app.jobs.get(job_id)
        job = Job(job_id, stage_ids, submitted, sql)
        if known is not None:
            job.completed, job.ended = known.completed, known.ended
        self.app.jobs[job_id] = job

    def job_end(self, record: Dict[str, Any]) -> None:
        job_id = identity_of(record, "Job ID")
        self.identity("job end", job_id)
        completed = time_of(record, "Completion Time")
        self.app.see(completed)
        if text(child(record, "Job Result"), "Result") != "JobSucceeded":
            self.app.failed_jobs += 1
        job = self.app.jobs.get(job_id)
        if job is not None:
            job.ended = True
            job.completed = completed

    @staticmethod
    def parents(info: Dict[str, Any]) -> List[int]:
        parents = info.get("Parent IDs")
        return [parent for parent in parents if isinstance(parent, int)] if isinstance(parents, list) else []

    def stage_info(self, record: Dict[str, Any]) -> Tuple[Stage, Dict[str, Any]]:
        info = child(record, "Stage Info")
        stage = self.app.stage((identity_of(info, "Stage ID"), integer(info, "Stage Attempt ID")))
        stage.name = text(info, "Stage Name") or stage.name
        stage.parents = self.parents(info)
        stage.resource_profile = integer(info, "Resource Profile Id")
        stage.partitions = integer(info, "Number of Tasks")
        self.app.see(time_of(info, "Submission Time"), time_of(info, "Completion Time"))
        return stage, info

    def stage_submitted(self, record: Dict[str, Any]) -> None:
        stage, info = self.stage_info(record)
        self.identity("stage submitted", stage.id, stage.attempt)
        stage.submit_events += 1
        if not stage.completed_seen:
            stage.submitted = time_of(info, "Submission Time")

    def stage_completed(self, record: Dict[str, Any]) -> None:
        stage, info = self.stage_info(record)
        self.identity("stage completed", stage.id, stage.attempt)
        stage.completed_seen = True
        stage.submitted = time_of(info, "Submission Time") or stage.submitted
        stage.completed = time_of(info, "Completion Time")
        stage.failure = text(info, "Failure Reason")
        if stage.failure is not None:
            self.app.failed_stages += 1

    def task_start(self, record: Dict[str, Any]) -> None:
        info = child(record, "Task Info")
        number = identity_of(info, "Task ID")
        self.identity("task start", number)
        self.app.see(time_of(info, "Launch Time"))
        if number not in self.app.started:
            self.app.started[number] = Task(
                stage=(integer(record, "Stage ID", -1), integer(record, "Stage Attempt ID")),
                executor=text(info, "Executor ID"),
                launch=integer(info, "Launch Time"),
                speculative=info.get("Speculative") is True,
                unfinished=True,
                **UNKNOWN_END,
            )

    def task_end(self, record: Dict[str, Any]) -> None:
        info = child(record, "Task Info")
        metrics = child(record, "Task Metrics")
        read = child(metrics, "Shuffle Read Metrics")
        write = child(metrics, "Shuffle Write Metrics")
        reason = text(child(record, "Task End Reason"), "Reason")
        killed = info.get("Killed") is True
        task = Task(
            stage=(identity_of(record, "Stage ID"), integer(record, "Stage Attempt ID")),
            executor=text(info, "Executor ID"),
            launch=integer(info, "Launch Time"),
            finish=integer(info, "Finish Time"),
            reason=reason,
            failed=info.get("Failed") is True and not killed,
            killed=killed,
            has_metrics=isinstance(record.get("Task Metrics"), dict),
            getting_result_since=integer(info, "Getting Result Time"),
            deserialize_ms=integer(metrics, "Executor Deserialize Time"),
            run_ms=integer(metrics, "Executor Run Time"),
            run_time_known="Executor Run Time" in metrics,
            cpu_ns=integer(metrics, "Executor CPU Time"),
            gc_ms=integer(metrics, "JVM GC Time"),
            result_serialize_ms=integer(metrics, "Result Serialization Time"),
            memory_spill_bytes=integer(metrics, "Memory Bytes Spilled"),
            disk_spill_bytes=integer(metrics, "Disk Bytes Spilled"),
            input_bytes=integer(child(metrics, "Input Metrics"), "Bytes Read"),
            output_bytes=integer(child(metrics, "Output Metrics"), "Bytes Written"),
            fetch_wait_ms=integer(read, "Fetch Wait Time"),
            shuffle_read_bytes=integer(read, "Remote Bytes Read") + integer(read, "Local Bytes Read"),
            shuffle_write_bytes=integer(write, "Shuffle Bytes Written"),
            shuffle_write_ns=integer(write, "Shuffle Write Time"),
            index=integer(info, "Index", -1),
            partition=integer(info, "Partition ID", -1),
            speculative=info.get("Speculative") is True,
        )
        kind = "task resubmitted" if task.resubmitted else "task end"
        self.identity(kind, identity_of(info, "Task ID"))
        self.app.see(task.launch, task.finish)
        if not task.resubmitted:
            self.app.ended_ids.add(identity_of(info, "Task ID"))
        self.app.tasks.append(task)

    def sql_start(self, record: Dict[str, Any]) -> None:
        self.identity("sql start", identity_of(record, "executionId"))
        self.app.see(time_of(record, "time"))

    def sql_adaptive_update(self, record: Dict[str, Any]) -> None:
        identity_of(record, "executionId")  # a record without its id is bad

    def sql_end(self, record: Dict[str, Any]) -> None:
        self.identity("sql end", identity_of(record, "executionId"))
        self.app.see(time_of(record, "time"))


YEAR_MS = 365 * 86_400_000
OUTSIDE_MS = 60_000


def set_aside(app: Application) -> None:
    """Times of executors that others contradict: docs/reports.md#confidence."""
    times = sorted(app.times)
    if app.end_seen is None:
        cut = next((n for n in range(1, len(times)) if times[n] - times[n - 1] > YEAR_MS), len(times))
        app.times = times[:cut]
    start, end = app.start, app.end
    if start is None or end is None:
        return
    for executor in app.executors.values():
        if executor.added is not None and not start - OUTSIDE_MS <= executor.added <= end + OUTSIDE_MS:
            executor.history = [(what, start if time == executor.added else time, cores) for what, time, cores in executor.history]
            executor.added = None


def read_application(log: Log) -> Application:
    reader = Reader()
    for part in log.parts:
        data, damaged = plain_bytes(part)
        reader.app.bytes += len(data)
        reader.app.damaged |= damaged
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for line in lines:
            reader.line(line)
    set_aside(reader.app)
    return reader.app


def is_known(name: str) -> bool:
    return name in KNOWN_EVENTS
