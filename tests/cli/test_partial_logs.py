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
