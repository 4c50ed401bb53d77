"""Times that contradict each other."""

from __future__ import annotations

from typing import Any, Dict, List

from . import spark
from .forms import ANY, NEARLY, PART, REST, Differs, Files, Form, Run, healthy, make_form
from .spark import DAY, HOUR, Event

FORMS: List[Form] = []
form = make_form(FORMS)
YEAR = 365 * DAY
# Of one task it is unknown when it ran: its slot counts as idle for a minute.
ONE_UNKNOWN = healthy(stages__0__task_ms=15 * 60_000, core__compute=15 * 59_980, core__idle_no_work=60_000)
TASK_NOTE = "Values of tasks contradict each other: 1 are"
CLOCKS = "Clocks contradict each other: "


def first_task(events: List[Event]) -> Event:
    return spark.named(events, "TaskEnd")[0]


def completed_stage(events: List[Event]) -> Dict[str, Any]:
    info: Dict[str, Any] = spark.named(events, "StageCompleted")[0]["Stage Info"]
    return info


@form("application that starts 9 h after its tasks and its end", "drivers and servers with another time zone",
      Run(NEARLY, ("contradictory",), (CLOCKS + "the application's start is later",),
          healthy(application__duration_ms=121_500, wall__resource_wait=0, bounds__critical_path_ms=61_500)))
def start_after_end(app: str) -> Files:
    def change(events: List[Event]) -> None:
        spark.named(events, "ApplicationStart")[0]["Timestamp"] += 9 * HOUR

    return {app: spark.changed(app, change)}


@form("application that ends 9 h before its start", "drivers and servers with another time zone",
      Run(NEARLY, ("contradictory",), (CLOCKS + "the application's end is earlier",),
          healthy(application__duration_ms=122_000, wall__driver=1_000, core__idle_driver=8_000, bounds__critical_path_ms=62_000)))
def end_before_start(app: str) -> Files:
    def change(events: List[Event]) -> None:
        spark.named(events, "ApplicationEnd")[0]["Timestamp"] -= 9 * HOUR

    return {app: spark.changed(app, change)}


@form("clock that is set by 9 h in the middle of a run", "virtual machines, drivers without NTP",
      Run(PART, ("contradictory", "partial"), ("nothing happened for 32401 s at a time: the clock was set",),
          {"totals.tasks": 16, "totals.failed_tasks": 0}))
def clock_set(app: str) -> Files:
    events = spark.run(app)
    later = len(events) // 2
    return {app: spark.lines([*events[:later], *shifted(events[later:], 9 * HOUR)])}


def shifted(value: Any, by_ms: int) -> Any:
    """All times of day of events, moved."""
    if isinstance(value, dict):
        return {key: shifted(inside, by_ms) for key, inside in value.items()}
    if isinstance(value, list):
        return [shifted(inside, by_ms) for inside in value]
    return value + by_ms if isinstance(value, int) and value >= spark.BEGIN else value


@form("task that starts 9 h before its run", "executors with another clock, damaged logs",
      Run(NEARLY, ("contradictory",), (TASK_NOTE, "launch_ms"), ONE_UNKNOWN))
def task_of_another_zone(app: str) -> Files:
    def change(events: List[Event]) -> None:
        first_task(events)["Task Info"]["Launch Time"] -= 9 * HOUR

    return {app: spark.changed(app, change)}


@form("executor run time of 53 years", "executors whose clock starts in 1970",
      Run(NEARLY, ("contradictory",), (TASK_NOTE, "run_ms"), healthy(totals__run_ms=15 * 59_980, wall__scheduler_delay=(18, 20), core__compute=15 * 59_980 + 59_990)))
def run_time_of_53_years(app: str) -> Files:
    def change(events: List[Event]) -> None:
        first_task(events)["Task Metrics"]["Executor Run Time"] = 53 * YEAR

    return {app: spark.changed(app, change)}


@form("task of 2.5 years in a run of minutes", "damaged logs, clocks that were set",
      Run(NEARLY, ("contradictory",), (TASK_NOTE, "finish_ms"), ONE_UNKNOWN))
def task_of_years(app: str) -> Files:
    def change(events: List[Event]) -> None:
        first_task(events)["Task Info"]["Finish Time"] += 5 * YEAR // 2

    return {app: spark.changed(app, change)}


@form("task that ends before its start", "clocks that are corrected backwards",
      Run(NEARLY, ("contradictory",), (TASK_NOTE, "finish_ms"), ONE_UNKNOWN),
      differs={REST: Differs(Run(NEARLY, ("contradictory",), (), {**ONE_UNKNOWN, "totals.run_ms": 15 * 59_980}),
                             "servers leave out a duration below 0")})
def task_ends_first(app: str) -> Files:
    def change(events: List[Event]) -> None:
        info = first_task(events)["Task Info"]
        info["Finish Time"] = info["Launch Time"] - 400

    return {app: spark.changed(app, change)}


@form("stage that ends before its start", "clocks that are corrected backwards",
      Run(NEARLY, ("contradictory",), (CLOCKS + "1 times of jobs and stages",),
          healthy(stages__0__completed_ms=None, wall__driver=1_000, wall__scheduling=500, core__idle_driver=8_000,
                  bounds__critical_path_ms=62_000)))
def stage_ends_first(app: str) -> Files:
    def change(events: List[Event]) -> None:
        info = completed_stage(events)
        info["Completion Time"] = info["Submission Time"] - 400

    return {app: spark.changed(app, change)}


@form("stage of the year 1969", "containers without a clock",
      Run(PART, ("contradictory",), (CLOCKS + "2 times of jobs and stages",),
          healthy(stages__0__submitted_ms=None, stages__0__completed_ms=None)))
def stage_of_1969(app: str) -> Files:
    def change(events: List[Event]) -> None:
        info = completed_stage(events)
        info["Submission Time"], info["Completion Time"] = -DAY, -DAY + 1000

    return {app: spark.changed(app, change)}


@form("executor that is removed before it is added", "clocks that are corrected backwards",
      Run(NEARLY, ("contradictory",), (CLOCKS + "1 times of executors",), healthy()))
def removed_before_added(app: str) -> Files:
    events = spark.run(app)
    lost = spark.removed(2, spark.SECOND - 700, "Container released on request")
    return {app: spark.lines([*events[:-1], lost, events[-1]])}
