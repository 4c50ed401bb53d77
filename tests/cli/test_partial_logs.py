"""Logs that lack their beginning or contradict themselves: what they do not say is unknown, and no setting is guessed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Callable

import pytest
import zstandard

from cli_command import ROOT, Command, pyrometer  # noqa: F401 (fixture)

Event = dict[str, Any]
HOURS_9 = 9 * 3_600_000
DEFAULT_HEAP = 1 << 30
LOGS = sorted((ROOT / "corpus" / "logs").glob("*.zst"))
SOME = random.Random(31).sample(LOGS, 16)
# What a log without settings may still recommend is a change of the program.
ENVIRONMENT = "SparkListenerEnvironmentUpdate"
START = "SparkListenerApplicationStart"


def events_of(path: Path) -> list[Event]:
    with open(path, "rb") as file:
        lines = zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def report_of(pyrometer: Command, events: list[Event]) -> Any:
    text = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
    run = pyrometer("diagnose", "--format", "json", "-", input=text)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def without(events: list[Event], *names: str) -> list[Event]:
    return [event for event in events if event["Event"] not in names]


def notes_of(report: Any) -> str:
    return "\n".join(report["integrity"]["notes"])


def first(events: list[Event], name: str) -> Event:
    return next(event for event in events if event["Event"] == name)


def properties_of(events: list[Event]) -> dict[str, str]:
    return first(events, ENVIRONMENT)["Spark Properties"]


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_without_settings_none_is_recommended(pyrometer: Command, path: Path) -> None:
    events = events_of(path)
    whole, report = report_of(pyrometer, events), report_of(pyrometer, without(events, ENVIRONMENT))
    assert report["integrity"]["settings_unknown"] and not whole["integrity"]["settings_unknown"]
    assert report["integrity"]["confidence"] < whole["integrity"]["confidence"]
    assert "settings of the run are unknown" in notes_of(report)
    assert report["config_changes"] == {} and report["configuration"] == []
    assert not any(advice["config"] for finding in report["findings"] for advice in finding["advice"])
    assert report["memory"]["driver_heap_limit_bytes"] is None
    assert report["memory"]["executor_heap_limit_bytes"] is None


def set_driver_heap(value: Any, peak: int) -> None:
    """Every measurement of the driver's heap that the events hold."""
    if isinstance(value, list):
        for one in value:
            set_driver_heap(one, peak)
    elif isinstance(value, dict):
        if value.get("Executor ID") == "driver":
            set_heap(value, peak)
        for one in value.values():
            set_driver_heap(one, peak)


def set_heap(value: Any, peak: int) -> None:
    if isinstance(value, list):
        for one in value:
            set_heap(one, peak)
    elif isinstance(value, dict):
        if "JVMHeapMemory" in value:
            value["JVMHeapMemory"] = peak
        for one in value.values():
            set_heap(one, peak)


def headless(peak: int) -> list[Event]:
    """The later part of a log whose driver had a heap of `peak` bytes in use."""
    events = events_of(ROOT / "corpus" / "logs" / "driver_plans.zst")
    cut = max(place for place, event in enumerate(events) if event["Event"] in (START, ENVIRONMENT))
    later = events[cut + len(events) // 3 :]
    set_driver_heap(later, peak)
    return later


def test_a_log_without_its_beginning(pyrometer: Command) -> None:
    report = report_of(pyrometer, headless(17 << 30))
    assert report["integrity"]["beginning_missing"] and report["integrity"]["settings_unknown"]
    assert report["integrity"]["confidence"] <= 0.7
    assert "beginning of the log is missing" in notes_of(report)
    assert report["memory"]["driver_heap_limit_bytes"] is None
    assert report["config_changes"] == {}
    assert "spark.driver.memory" not in json.dumps(report["findings"])


def test_a_peak_refutes_a_default_limit(pyrometer: Command) -> None:
    events = events_of(ROOT / "corpus" / "logs" / "driver_plans.zst")
    properties_of(events).pop("spark.driver.memory", None)
    for peak, limit in ((DEFAULT_HEAP // 2, DEFAULT_HEAP), (17 << 30, None)):
        set_driver_heap(events, peak)
        memory = report_of(pyrometer, events)["memory"]
        assert (memory["driver_heap_peak_bytes"], memory["driver_heap_limit_bytes"]) == (peak, limit)


def later_start(events: list[Event]) -> None:
    first(events, START)["Timestamp"] += HOURS_9


def earlier_end(events: list[Event]) -> None:
    first(events, "SparkListenerApplicationEnd")["Timestamp"] -= HOURS_9


@pytest.mark.parametrize("change", [later_start, earlier_end])
def test_a_clock_that_is_hours_off(pyrometer: Command, change: Callable[[list[Event]], None]) -> None:
    events = events_of(ROOT / "corpus" / "logs" / "healthy_iterative.zst")
    whole = report_of(pyrometer, events)
    change(events)
    report = report_of(pyrometer, events)
    assert abs(report["application"]["duration_ms"] - whole["application"]["duration_ms"]) < 5000
    assert report["integrity"]["contradictory"] and report["integrity"]["confidence"] == 0.8
    assert "Clocks contradict each other" in notes_of(report)
    assert "contradicts itself" in pyrometer("diagnose", "-", input=text_of(events)).stdout


def text_of(events: list[Event]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def ends_first(stage: Event) -> None:
    stage["Completion Time"] = stage["Submission Time"] - 400


def of_1969(stage: Event) -> None:
    stage["Submission Time"] = stage["Completion Time"] = 4242


@pytest.mark.parametrize("change, times", [(ends_first, 1), (of_1969, 2)])
def test_a_contradicted_stage_is_set_aside(pyrometer: Command, change: Callable[[Event], None], times: int) -> None:
    events = events_of(ROOT / "corpus" / "logs" / "healthy_iterative.zst")
    whole = report_of(pyrometer, events)
    completed = [event["Stage Info"] for event in events if event["Event"] == "SparkListenerStageCompleted"]
    change(completed[len(completed) // 2])
    report = report_of(pyrometer, events)
    assert f"{times} times of jobs and stages" in notes_of(report)
    assert whole["application"]["duration_ms"] == report["application"]["duration_ms"]
    assert report["integrity"]["confidence"] < 1
    stages = {stage["id"]: stage for stage in report["stages"]}
    stage = stages[completed[len(completed) // 2]["Stage ID"]]
    assert stage["completed_ms"] is None and (stage["submitted_ms"] is None) == (times == 2)


MINUTE = 60_000
YEARS_53 = 53 * 365 * 24 * 3_600_000


def successes(events: list[Event]) -> list[Event]:
    return [event for event in events if event["Event"] == "SparkListenerTaskEnd" and not event["Task Info"]["Failed"]]


def run_of_years(events: list[Event]) -> None:
    successes(events)[5]["Task Metrics"]["Executor Run Time"] = YEARS_53


def end_after_years(events: list[Event]) -> None:
    successes(events)[5]["Task Info"]["Finish Time"] += YEARS_53 // 20


def end_before_launch(events: list[Event]) -> None:
    info = successes(events)[5]["Task Info"]
    info["Finish Time"] = info["Launch Time"] - 400


def launch_of_another_zone(events: list[Event]) -> None:
    successes(events)[5]["Task Info"]["Launch Time"] -= HOURS_9


def negative_bytes(events: list[Event]) -> None:
    successes(events)[5]["Task Metrics"]["Memory Bytes Spilled"] = -1


TASKS = [
    (run_of_years, f"run_ms {YEARS_53}"),
    (end_after_years, "finish_ms"),
    (end_before_launch, "finish_ms"),
    (launch_of_another_zone, "launch_ms"),
    (negative_bytes, "memory_spill_bytes -1"),
]


@pytest.mark.parametrize("change, first", TASKS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_contradicted_value_of_a_task(
    pyrometer: Command, tmp_path: Path, change: Callable[[list[Event]], None], first: str
) -> None:
    """It is unknown, not zero; no sum takes it, and a note names it."""
    events = events_of(ROOT / "corpus" / "logs" / "healthy_iterative.zst")
    whole = report_of(pyrometer, events)
    change(events)
    report = report_of(pyrometer, events)
    info = successes(events)[5]["Task Info"]
    assert "Values of tasks contradict each other: 1 are" in notes_of(report)
    assert first in notes_of(report) and f"of task {info['Task ID']}," in notes_of(report)
    assert report["integrity"]["confidence"] < 1 and report["integrity"]["contradictory"]
    assert report["application"]["duration_ms"] == whole["application"]["duration_ms"]
    column = first.split()[0]
    (tmp_path / "log").write_text(text_of(events))
    statement = f"select {column} as value from tasks where id = {info['Task ID']}"
    assert json.loads(pyrometer("sql", "--format", "json", "log", statement).stdout) == [{"value": None}]
    for stage, before in zip(report["stages"], whole["stages"]):
        assert 0 <= stage["task_ms"] <= before["task_ms"]
        quantiles, quantiles_before = (one["duration_ms"].values() for one in (stage, before))
        assert min(quantiles) >= min(quantiles_before) and max(quantiles) <= max(quantiles_before)


@pytest.mark.parametrize("more_ms, doubted", [(900, False), (3 * MINUTE, True)])
def test_clocks_of_executors_are_not_exact(pyrometer: Command, more_ms: int, doubted: bool) -> None:
    events = events_of(ROOT / "corpus" / "logs" / "healthy_iterative.zst")
    task = successes(events)[5]
    task["Task Metrics"]["Executor Run Time"] = (
        task["Task Info"]["Finish Time"] - task["Task Info"]["Launch Time"] + more_ms
    )
    assert ("Values of tasks contradict" in notes_of(report_of(pyrometer, events))) == doubted


def test_most_tasks_outweigh_their_stage(pyrometer: Command) -> None:
    events = events_of(ROOT / "corpus" / "logs" / "healthy_iterative.zst")
    last = [event for event in events if event["Event"] == "SparkListenerStageCompleted"][-1]["Stage Info"]
    first(events, START)["Timestamp"] -= HOURS_9
    last["Completion Time"] = last["Submission Time"] = first(events, START)["Timestamp"]
    report = report_of(pyrometer, events)
    stage = next(stage for stage in report["stages"] if stage["id"] == last["Stage ID"])
    assert stage["completed_ms"] is None and stage["task_ms"] > 0
    assert "Values of tasks" not in notes_of(report)


def gone_before_it_came(events: list[Event]) -> None:
    first(events, "SparkListenerExecutorRemoved")["Timestamp"] = (
        first(events, "SparkListenerExecutorAdded")["Timestamp"] - 1
    )


def gone_before_the_application(events: list[Event]) -> None:
    first(events, "SparkListenerExecutorRemoved")["Timestamp"] = first(events, START)["Timestamp"] - HOURS_9


def sql_end_first(events: list[Event]) -> None:
    end = next(event for event in events if event["Event"].endswith("SQLExecutionEnd"))
    start = next(event for event in events if event["Event"].endswith("SQLExecutionStart"))
    end["time"] = start["time"] - 1


@pytest.mark.parametrize("change", [gone_before_it_came, gone_before_the_application, sql_end_first])
def test_contradicted_executors_and_executions(pyrometer: Command, change: Callable[[list[Event]], None]) -> None:
    events = events_of(ROOT / "corpus" / "logs" / "result_limit.zst")
    change(events)
    report = report_of(pyrometer, events)
    assert "1 times of executors, SQL executions and other events" in notes_of(report)
    assert report["integrity"]["confidence"] < 1 and report["integrity"]["contradictory"]


def test_no_application_is_silent_for_years(pyrometer: Command) -> None:
    """A log that was cut has no end of its own: the last time counts that others support."""
    events = without(events_of(ROOT / "corpus" / "logs" / "healthy_iterative.zst"), "SparkListenerApplicationEnd")
    whole = report_of(pyrometer, events)
    end_after_years(events)
    report = report_of(pyrometer, events)
    assert report["application"]["duration_ms"] == whole["application"]["duration_ms"]
    assert "finish_ms" in notes_of(report)
