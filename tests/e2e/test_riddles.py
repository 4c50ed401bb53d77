"""The four riddles: the recorded runs show their faults, and the report names what it can see; repaired ones are silent."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
import zstandard
from conftest import ROOT, binary_path, run_command, run_on_log

FOLDER = ROOT / "corpus" / "riddles"
LOGS = Path(os.environ.get("PYROMETER_RIDDLES") or FOLDER / "logs")
sys.path.insert(0, str(FOLDER))

from riddles import RIDDLES, SIDES, Riddle  # noqa: E402

WITH_FUNCTION = [riddle for riddle in RIDDLES if riddle.function]


def named(riddle: Riddle) -> str:
    return riddle.name


def recorded(riddle: Riddle, side: str) -> Path:
    folder = LOGS / riddle.name / side
    if not folder.is_dir():
        pytest.skip("the riddles are not recorded: python3 corpus/riddles/record.py")
    return folder


def text_of(path: Path) -> str:
    with open(path, "rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8", "replace")


def event_log(folder: Path) -> Path:
    (log,) = folder.glob("app-*.zst")
    return log


def loud_findings(path: Path) -> List[Dict[str, Any]]:
    """The findings above `low` of a folder, or of a log alone."""
    run = run_on_log(path)
    assert run.exit == 0, run.explain()
    return [one for one in run.json["findings"] if one["severity"] != "low"]


def describe(findings: List[Dict[str, Any]]) -> str:
    return "\n".join(f"{one['severity']} {one['id']}: {one['cause']}" for one in findings) or "no findings"


def tasks_of(folder: Path) -> List[Dict[str, Any]]:
    lines = text_of(event_log(folder)).splitlines()
    return [json.loads(line) for line in lines if line.startswith('{"Event":"SparkListenerTaskEnd"')]


def samples(folder: Path) -> List[Dict[str, Any]]:
    files = sorted((folder / "profiles").glob("*_stack.json.zst"))
    return [json.loads(line) for file in files for line in text_of(file).splitlines()]


@pytest.mark.parametrize("riddle", RIDDLES, ids=named)
def test_every_riddle_has_its_programs_and_its_words(riddle: Riddle) -> None:
    page = (ROOT / "docs" / "riddles.md").read_text(encoding="utf-8")
    for side in SIDES:
        path = FOLDER / "jobs" / f"{riddle.script(side)}.py"
        compile(path.read_text(encoding="utf-8"), str(path), "exec")
        assert path.name in page
    for rule in riddle.rules:
        assert f"`{rule}`" in page


@pytest.mark.parametrize("riddle", RIDDLES, ids=named)
def test_the_first_finding_is_the_fault(riddle: Riddle) -> None:
    found = loud_findings(recorded(riddle, "faulty"))
    assert found and found[0]["rule"] in riddle.rules, describe(found)
    if riddle.function:
        assert riddle.function in found[0]["cause"]


@pytest.mark.parametrize("riddle", RIDDLES, ids=named)
def test_a_repaired_program_is_silent(riddle: Riddle) -> None:
    found = loud_findings(recorded(riddle, "repaired"))
    assert not found, describe(found)


@pytest.mark.parametrize("riddle", [one for one in RIDDLES if one.unseen], ids=named)
def test_what_no_event_says_only_profiles_see(riddle: Riddle) -> None:
    found = loud_findings(event_log(recorded(riddle, "faulty")))
    assert not found, describe(found)


@pytest.mark.parametrize("riddle", [one for one in RIDDLES if one.unseen], ids=named)
def test_the_repair_saves_what_was_promised(riddle: Riddle) -> None:
    measured = {}
    for side in SIDES:
        run = run_on_log(recorded(riddle, side))
        assert run.exit == 0, run.explain()
        measured[side] = run.json["application"]["duration_ms"]
    (finding,) = (one for one in loud_findings(recorded(riddle, "faulty")) if one["rule"] in riddle.rules)
    saves = finding["saves"]["wall_ms"]
    assert saves["low"] <= measured["faulty"] - measured["repaired"] <= saves["high"]


@pytest.mark.parametrize("riddle", [one for one in RIDDLES if one.waits], ids=named)
def test_tasks_that_wait_use_no_processor(riddle: Riddle) -> None:
    metrics = [task["Task Metrics"] for task in tasks_of(recorded(riddle, "faulty"))]
    run_ms = sum(one["Executor Run Time"] for one in metrics)
    assert sum(one["Executor CPU Time"] for one in metrics) / 1e6 < 0.2 * run_ms


@pytest.mark.parametrize("riddle", WITH_FUNCTION, ids=named)
def test_the_profile_names_the_function(riddle: Riddle) -> None:
    records = samples(recorded(riddle, "faulty"))
    assert records
    inside = [one for one in records if any(f":{riddle.function}:" in frame for frame in one["stacktrace"])]
    count = sum(one["count"] for one in inside)
    assert count > 0.7 * sum(one["count"] for one in records)
    used = sum(one["cpuMillis"] for one in inside) / sum(one["count"] * one["intervalMillis"] for one in inside)
    assert used < 0.2 if riddle.waits else used > 0.4
    known = {task["Task Info"]["Task ID"] for task in tasks_of(recorded(riddle, "faulty"))}
    assert {one["taskAttemptId"] for one in records} <= known


def test_heckler_logs_a_line_for_each_text() -> None:
    (riddle,) = (one for one in RIDDLES if one.name == "heckler")
    lines = {
        side: sum(text_of(path).count("Loaded the pipeline en") for path in recorded(riddle, side).glob("work/*/*/stderr.zst"))
        for side in SIDES
    }
    assert lines["faulty"] == 160
    assert 0 < lines["repaired"] <= 8


def test_samples_of_an_executor_with_one_slot_belong_to_the_task_that_ran() -> None:
    """Recordings of the JVM name no tasks: which one it was follows from when tasks ran."""
    (riddle,) = (one for one in RIDDLES if one.name == "straggler")
    folder = recorded(riddle, "faulty")
    query = (
        "select x.time_ns, x.task, p.executor from samples x join threads t on t.id = x.thread "
        "join threads p on p.id = t.parent where x.event in ('cpu', 'wait') and x.task is not null"
    )
    run = run_command([str(binary_path()), "sql", str(folder), query, "--format", "json"])
    assert run.exit == 0, run.explain()
    assert len(run.json) > 500
    ran: Dict[str, List[Any]] = {}
    for task in tasks_of(folder):
        info = task["Task Info"]
        ran.setdefault(info["Executor ID"], []).append((info["Launch Time"], info["Finish Time"], info["Task ID"]))
    origin = next(
        json.loads(line)["Timestamp"]
        for line in text_of(event_log(folder)).splitlines()
        if line.startswith('{"Event":"SparkListenerApplicationStart"')
    )
    for row in run.json:
        ms = origin + row["time_ns"] / 1e6
        near = {number for begin, end, number in ran[row["executor"]] if begin - 50 <= ms < end + 50}
        assert row["task"] in near
