"""Logs of which a part is missing, and files without a run."""

from __future__ import annotations

import json
from typing import List

from . import spark
from .forms import ANY, CRAWL, LITTLE, NEARLY, PART, REST, STDIN, UPLOAD, WAYS, Differs, Files, Form, Refused, Run, healthy, make_form

FORMS: List[Form] = []
form = make_form(FORMS)

SERVED_GAP = {"application.duration_ms": 122_500, "totals.tasks": 1, "core.idle_no_work": 0, "executors.1.busy_ms": 4 * 120_000}
FORGOTTEN = {REST: Differs(Run(LITTLE, says=SERVED_GAP), "servers forget tasks whose start is missing")}
# All slots were busy for a minute when the log ends.
DEAD = {"application.duration_ms": 62_000, "totals.tasks": 8, "totals.run_ms": 8 * 59_980, "stages.0.task_ms": 8 * 60_000,
        "core.idle_no_work": 0, "core.idle_driver": 8_000, "bounds.critical_path_ms": 62_000,
        "executors.1.busy_ms": 4 * 60_000, "executors.2.busy_ms": 4 * 60_000}
BEGINNING = ("beginning_missing", "events_missing", "partial", "settings_unknown")
NOTES = ("The beginning of the log is missing", "The settings of the run are unknown")
NO_RUN = Refused("not the log of a run")
NOT_LISTED = {way: Differs(Refused("it has no start event of an application"), "servers list applications by their start event") for way in (UPLOAD, REST)}
# Of a run whose first wave of tasks is in the log, and an end of the job that shows the rest.
PEAK = 17 << 30
GAP = healthy(totals__tasks=8, totals__run_ms=8 * 59_980, stages__0__task_ms=8 * 60_000, core__compute=ANY, wall__scheduler_delay=ANY)


@form("log without its beginning", "log delivery that starts late, rolled files that were deleted",
      Run(LITTLE, BEGINNING, NOTES, {"application.duration_ms": 120_500, "totals.tasks": 10, "wall.scheduler_delay": 20,
                                     "memory.driver_heap_peak_bytes": PEAK, "memory.driver_heap_limit_bytes": None,
                                     "memory.executor_heap_limit_bytes": None}),
      differs=NOT_LISTED)
def no_beginning(app: str) -> Files:
    events = spark.run(app)
    peak = {"Executor ID": "driver", "Stage ID": 0, "Stage Attempt ID": 0, "Executor Metrics": {"JVMHeapMemory": PEAK}}
    return {app: spark.lines([*events[len(events) // 2 : -3], spark.event("StageExecutorMetrics", **peak), *events[-3:]])}


@form("log without settings", "filters of events, dropped events",
      Run(NEARLY, ("settings_unknown",), NOTES[1:], healthy(memory__driver_heap_limit_bytes=None, memory__executor_heap_limit_bytes=None)))
def no_settings(app: str) -> Files:
    return {app: spark.lines(spark.without(spark.run(app), "EnvironmentUpdate"))}


@form("header alone", "applications that died at once", NO_RUN, differs=NOT_LISTED)
def header(app: str) -> Files:
    return {app: spark.lines(spark.run(app)[:1])}


@form("header and garbage", "disks that were full, proxies that answer with a page", NO_RUN, differs=NOT_LISTED)
def header_and_garbage(app: str) -> Files:
    return {app: spark.lines(spark.run(app)[:1]) + b"<html>busy</html>\n" + b'{"Event":"SparkListenerJobSta'}


@form("empty file", "applications that are starting, full disks", Refused("is empty"))
def empty(app: str) -> Files:
    return {app: b""}


@form("log that stops in the middle of a line", "drivers that were killed, copies of running applications",
      Run(PART, ("bad_lines", "partial", "truncated"), (), healthy(
          application__duration_ms=122_000, totals__tasks=13, totals__run_ms=13 * 59_980, stages__0__task_ms=13 * 60_000,
          wall__driver=1_000, core__idle_driver=8_000, bounds__critical_path_ms=62_000, core__compute=ANY, wall__scheduler_delay=ANY)))
def cut_line(app: str) -> Files:
    text = spark.lines(spark.run(app))
    return {app: text[: text.index(b"SparkListenerStageCompleted") - 3000]}


def rolled(app: str, parts: List[int]) -> Files:
    lines = spark.lines(spark.run(app)).splitlines(keepends=True)
    third = len(lines) // 3 + 1
    return {f"eventlog_v2_{app}/events_{one}_{app}": b"".join(lines[(one - 1) * third : one * third]) for one in parts}


@form("rolling log without its first part", "Spark's rolling logs, copied in part",
      Run(LITTLE, ("beginning_missing", "events_missing", "missing_parts", "partial", "settings_unknown"), NOTES,
          {"application.duration_ms": 120_500, "totals.tasks": 16, "memory.driver_heap_limit_bytes": None}),
      differs=NOT_LISTED)
def no_first_part(app: str) -> Files:
    return rolled(app, [2, 3])


@form("rolling log without a part in the middle", "Spark's rolling logs, copied in part",
      Run(LITTLE, ("events_missing", "missing_parts", "partial"), ("Events are missing inside the log",), GAP), differs=FORGOTTEN)
def no_middle_part(app: str) -> Files:
    return rolled(app, [1, 3])


@form("rolling log without its last part", "Spark's rolling logs, copied in part",
      Run(NEARLY, ("partial", "truncated"), (), DEAD))
def no_last_part(app: str) -> Files:
    return rolled(app, [1, 2])


@form("gap between the files of a cluster's log", "Databricks (`Rollover Number`)",
      Run(LITTLE, ("events_missing", "missing_parts", "partial"), ("Events are missing inside the log",), GAP), differs=FORGOTTEN)
def rollover_gap(app: str) -> Files:
    lines = spark.lines(spark.run(app)).splitlines(keepends=True)
    third = len(lines) // 3 + 1

    def part(number: int) -> bytes:
        row = {"Event": "DBCEventLoggingListenerMetadata", "Rollover Number": number, "SparkVersion": "14.3.x-scala2.12"}
        return json.dumps(row).encode() + b"\n" + b"".join(lines[number * third : (number + 1) * third])

    return {f"{app}/eventlog-2026-01-01--00-10": part(0), f"{app}/eventlog": part(2)}


@form("tasks that are still running", "drivers that died or were killed",
      Run(NEARLY, ("partial", "truncated"), (), {**DEAD, "totals.tasks": 1, "totals.run_ms": 59_980, "stages.0.task_ms": 60_000}))
def dead_driver(app: str) -> Files:
    events = spark.run(app)
    end = next(place for place, one in enumerate(events) if one["Event"] == spark.TASK_END)
    return {app: spark.lines(events[: end + 1])}


@form("start of an application and nothing else", "applications that are starting",
      Run(NEARLY, ("partial", "truncated"), (), {"application.duration_ms": 0, "totals.tasks": 0, "totals.executors": 0}))
def just_started(app: str) -> Files:
    return {app: spark.lines(spark.run(app)[:3])}


@form("log that is still written", "running applications (`.inprogress`); crawls wait for the end",
      Run(NEARLY, ("in_progress",), (), {**DEAD, "totals.tasks": 1, "totals.run_ms": 59_980, "stages.0.task_ms": 60_000}),
      ways=tuple(way for way in WAYS if way != CRAWL),
      differs={STDIN: Differs(Run(NEARLY, ("partial", "truncated")), "a pipe has no name that says so")})
def in_progress(app: str) -> Files:
    events = spark.run(app)
    end = next(place for place, one in enumerate(events) if one["Event"] == spark.TASK_END)
    return {f"{app}.inprogress": spark.lines(events[: end + 1])}
