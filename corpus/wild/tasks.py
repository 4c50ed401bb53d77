"""Tasks that say nothing of themselves, that run again, or run twice."""

from __future__ import annotations

from typing import Any, List

from . import spark
from .forms import NEARLY, REST, WAYS, Files, Form, Run, healthy, make_form
from .spark import Event

FORMS: List[Form] = []
form = make_form(FORMS)
LOST_AT = 42_000
ABSENT = "absent"
LOST = {
    "Reason": "ExecutorLostFailure",
    "Executor ID": "2",
    "Exit Caused By App": False,
    "Loss Reason": "Executor heartbeat timed out after 130000 ms",
}


def lost_tasks(app: str, metrics: Any) -> bytes:
    """An executor is lost with its tasks, of which Spark knows nothing but `metrics`; another one takes its place."""
    events: List[Event] = []
    for one in spark.run(app):
        info = one.get("Task Info", {})
        if info.get("Executor ID") == "2" and one["Event"] == spark.TASK_END and info["Finish Time"] == spark.BEGIN + spark.JOB_AT + spark.TASK:
            end = spark.task(info["Task ID"], 2, spark.JOB_AT, spark.JOB_AT + LOST_AT, Failed=True)
            end["Task End Reason"], end["Task Metrics"] = LOST, metrics
            if metrics == ABSENT:
                del end["Task Metrics"]
            events.append(end)
            retried = {"Index": info["Task ID"], "Attempt": 1, "Partition ID": info["Task ID"]}
            again = [
                spark.task(100 + info["Task ID"], 3, spark.JOB_AT + LOST_AT + 2000, end_ms, **retried)
                for end_ms in (0, spark.JOB_AT + LOST_AT + 2000 + 18_000)
            ]
            events += again
        else:
            events.append(one)
    at = next(place for place, one in enumerate(events) if one.get("Task End Reason") == LOST)
    gone = spark.removed(2, spark.JOB_AT + LOST_AT, "Executor heartbeat timed out after 130000 ms")
    came = spark.executor(3, at_ms=spark.JOB_AT + LOST_AT + 1000)
    events[at:at] = [gone, came]
    for one in events:
        info = one.get("Task Info", {})
        if info.get("Executor ID") == "2" and info["Launch Time"] > spark.BEGIN + spark.JOB_AT:
            info["Executor ID"], info["Host"] = "3", "host-3"
    return spark.lines(events)


ZEROS = {**spark.metrics(0), "Executor Deserialize Time": 0, "Executor Deserialize CPU Time": 0, "Result Size": 0}


# What lost tasks did in 42 s is unknown: it is neither waiting nor scheduling.
LOST_RUN = Run(
    findings=("executor-lost",),
    causes={"executor-lost": "did not answer in time"},
    says=healthy(
        totals__tasks=20,
        totals__failed_tasks=4,
        totals__run_ms=12 * 59_980 + 4 * 17_980,
        stages__0__task_ms=16 * 60_000,
        core__compute=(783_600, 783_700),
        core__failed_tasks=4 * LOST_AT,
        core__idle_no_work=4_000,
        wall__scheduler_delay=(15, 25),
    ),
)


@form("lost task without metrics", "Spark up to 3.0, lost executors", LOST_RUN)
def metrics_absent(app: str) -> Files:
    return {app: lost_tasks(app, ABSENT)}


@form("lost task whose metrics are null", "Spark 3 and later, lost executors", LOST_RUN)
def metrics_null(app: str) -> Files:
    return {app: lost_tasks(app, None)}


@form("lost task whose metrics are empty", "lost executors", LOST_RUN)
def metrics_empty(app: str) -> Files:
    return {app: lost_tasks(app, {})}


@form("lost task whose metrics are all zero", "Spark 3.3 and later (`TaskMetrics.empty`, SPARK-39382)", LOST_RUN)
def metrics_zero(app: str) -> Files:
    return {app: lost_tasks(app, ZEROS)}


@form("lost task without a run time", "damaged logs, filters of events", LOST_RUN)
def no_run_time(app: str) -> Files:
    return {app: lost_tasks(app, {"Executor Deserialize Time": 0, "JVM GC Time": 0, "Result Size": 0})}


UNMEASURED = ("Metrics of 1 task that succeeded are missing",)


@form("task without a run time that succeeded", "damaged logs, filters of events", Run(NEARLY, notes=UNMEASURED, says=healthy(
          totals__run_ms=15 * 59_980, wall__scheduler_delay=(18, 20), core__compute=15 * 59_980 + 59_990)),
      ways=tuple(way for way in WAYS if way != REST))
def one_run_time_absent(app: str) -> Files:
    def change(events: List[Event]) -> None:
        del spark.named(events, "TaskEnd")[0]["Task Metrics"]["Executor Run Time"]

    return {app: spark.changed(app, change)}


def half_used(app: str, more: List[Event], end_ms: int) -> bytes:
    """4 tasks on 8 slots; `more` happens meanwhile."""
    first = [spark.task(one, 1 + one % 2, spark.JOB_AT) for one in range(4)]
    last = [spark.task(one, 1 + one % 2, spark.JOB_AT, spark.JOB_AT + spark.TASK) for one in range(3)]
    executors = [spark.executor(number) for number in (1, 2)]
    end = [*spark.job_end(4, end_ms), spark.event("ApplicationEnd", Timestamp=spark.BEGIN + end_ms + 500)]
    return spark.lines([*spark.head(app), *executors, *spark.job_start(4), *first, *more[:-1], *last, more[-1], *end])


@form("retry of a failed task while slots are free", "all versions (SPARK-30511)",
      Run(findings=("idle-executors", "task-failures", "too-few-partitions"), settings=("spark.executor.instances",),
          says={"application.duration_ms": 95_512, "totals.failed_tasks": 1, "wall.scheduling": 0, "core.failed_tasks": 33_000}))
def retry(app: str) -> Files:
    failed = spark.task(3, 2, spark.JOB_AT, spark.JOB_AT + 33_000, Failed=True)
    failed["Task End Reason"] = {"Reason": "ExceptionFailure", "Class Name": "java.io.IOException", "Description": "broken pipe",
                                 "Stack Trace": [], "Full Stack Trace": "java.io.IOException: broken pipe", "Accumulator Updates": []}
    again = {"Index": 3, "Attempt": 1, "Partition ID": 3, "Locality": "ANY"}
    begin, end = spark.JOB_AT + 33_012, spark.JOB_AT + 93_012
    return {app: half_used(app, [failed, spark.task(4, 1, begin, **again), spark.task(4, 1, begin, end, **again)], end)}


@form("speculative copy of a task while slots are free", "all versions, `spark.speculation`",
      Run(findings=("idle-executors", "too-few-partitions"), settings=("spark.executor.instances",),
          says={"application.duration_ms": 92_500, "totals.killed_tasks": 1, "wall.scheduling": 0, "core.failed_tasks": 90_000}))
def speculative_copy(app: str) -> Files:
    copy = {"Index": 3, "Attempt": 1, "Partition ID": 3, "Locality": "ANY", "Speculative": True}
    begin, end = spark.JOB_AT + 70_000, spark.JOB_AT + 90_000
    killed = spark.task(3, 2, spark.JOB_AT, end, Killed=True, Failed=False)
    killed["Task End Reason"] = {"Reason": "TaskKilled", "Kill Reason": "another attempt succeeded", "Accumulator Updates": []}
    return {app: half_used(app, [spark.task(4, 1, begin, **copy), killed, spark.task(4, 1, begin, end, **copy)], end)}
