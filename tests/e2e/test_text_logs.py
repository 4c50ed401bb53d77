"""Recorded logs of real applications: every layout says the same, and an oracle and the event log agree."""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable

import log_layouts as layouts
import pytest
import text_logs
from conftest import lines_of, run_command
from schemas import check

RUNS = ["spark35", "iso", "own", "spark4", "json"]
WITH_EVENTS = [name for name in RUNS if name != "own"]
OWN = ["--pattern", "%-5p | %d{dd MMM yyyy HH:mm:ss,SSS} | <%t> | %X{mdc.taskName} | %c{1} ~ %m%n%ex"]


def options(name: str) -> list[str]:
    """What a recording needs on the command line."""
    return OWN if name == "own" else []


def document(binary: str, verb: str, *words: object) -> Any:
    """The JSON document of a call."""
    run = run_command([binary, "logs", verb, "-f", "json", "--tz", "UTC", *map(str, words)])
    assert run.exit == 0, run.explain()
    made = run.json
    check(made, f"pyrometer.{made['schema'].split('.')[1].split('/')[0]}-1.json")
    return made


@lru_cache(maxsize=None)
def recorded(binary: str, verb: str, name: str) -> Any:
    """The document of a recording as it lies in the repository."""
    return document(binary, verb, layouts.RECORDED / name / "work", layouts.RECORDED / name / "driver.log.gz", *options(name))


def kinds(made: Any) -> Counter[tuple[tuple[str, ...], str]]:
    """What the oracle counts."""
    found: Counter[tuple[tuple[str, ...], str]] = Counter()
    for error in made["errors"]:
        if error["root"]:
            found[tuple(error["classes"]), text_logs.normal(error["root"]["message"])] += error["count"]
        else:
            first = error["text"].split("\n")[0]
            made_of = next(iter(text_logs.records(first)), None)
            message = made_of.lines[0] if made_of else first
            found[(error["logger"],), text_logs.normal(message)] += error["count"]
    return found


@pytest.mark.parametrize("name", RUNS)
def test_errors_are_those_of_the_oracle(binary: str, name: str) -> None:
    texts = [layouts.driver(name), *(text for _, _, text in layouts.executors(name))]
    assert kinds(recorded(binary, "errors", name)) == text_logs.errors(texts)


@pytest.mark.parametrize("name", RUNS)
def test_causes_of_what_the_job_did(binary: str, name: str) -> None:
    errors = recorded(binary, "errors", name)["errors"]
    by_root: dict[str, set[str | None]] = {}
    for error in errors:
        if error["root"]:
            by_root.setdefault(error["root"]["class"], set()).add(error["cause"])
    assert by_root["ModuleNotFoundError"] == {"missing-module"}
    assert by_root["java.lang.ClassNotFoundException"] == {"missing-class"}
    assert by_root["ValueError"] == {None}
    causes = {error["cause"] for error in errors}
    assert {"container-memory", "heap"} <= causes  # killed with exit code 137; Java heap space


@pytest.mark.parametrize("name", RUNS)
def test_user_frames(binary: str, name: str) -> None:
    errors = recorded(binary, "errors", name)["errors"]
    frames = [frame for error in errors if error["root"] and error["root"]["class"] == "ValueError" for frame in error["frames"]]
    assert frames and all(frame.startswith('logs_job.py", line ') for frame in frames)


def events_of(name: str) -> list[Any]:
    """The event log of the same run."""
    return [json.loads(line) for line in lines_of(layouts.RECORDED / name / "events.zst")]


@pytest.mark.parametrize("name", WITH_EVENTS)
def test_the_timeline_is_that_of_the_event_log(binary: str, name: str) -> None:
    made = recorded(binary, "timeline", name)
    within = 1000 if name in ("spark35", "spark4") else 500  # what the text resolves; a line is written a little later
    events = events_of(name)
    tasks = {task["id"]: task for task in made["tasks"]}
    ended = {event["Task Info"]["Task ID"]: event for event in events if event["Event"] == "SparkListenerTaskEnd"}
    assert sorted(tasks) == sorted(ended)
    for number, event in ended.items():
        task, info = tasks[number], event["Task Info"]
        assert (task["stage"], task["stage_attempt"]) == (event["Stage ID"], event["Stage Attempt ID"])
        assert (task["index"], task["attempt"], task["executor"]) == (info["Index"], info["Attempt"], info["Executor ID"])
        assert abs(task["start_ms"] - info["Launch Time"]) <= within
        assert abs(task["end_ms"] - info["Finish Time"]) <= within, (number, task, info)
        assert task["status"] == ("failed" if info["Failed"] or info["Killed"] else "succeeded")
    jobs = {job["id"]: job for job in made["jobs"]}
    for event in events:
        if event["Event"] == "SparkListenerJobStart":
            assert abs(jobs[event["Job ID"]]["start_ms"] - event["Submission Time"]) <= within
        elif event["Event"] == "SparkListenerJobEnd":
            job = jobs[event["Job ID"]]
            assert abs(job["end_ms"] - event["Completion Time"]) <= within
            assert job["status"] == ("succeeded" if event["Job Result"]["Result"] == "JobSucceeded" else "failed")
    assert sum(event["Event"] == "SparkListenerJobStart" for event in events) == len(jobs)


@pytest.mark.parametrize("name", RUNS)
def test_active_tasks_add_up(binary: str, name: str) -> None:
    made = recorded(binary, "timeline", name)
    times, counts = made["active"]["time_ms"], made["active"]["tasks"]
    assert times == sorted(set(times)) and counts[-1] == 0
    area = sum((b - a) * count for a, b, count in zip(times, times[1:], counts))
    assert area == sum(task["end_ms"] - task["start_ms"] for task in made["tasks"])


LAYOUTS: list[Callable[[str, Path], Path]] = [
    layouts.standalone,
    layouts.emr,
    layouts.node_manager,
    layouts.yarn_output,
    layouts.databricks,
    layouts.kubernetes,
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("name", ["spark35", "json"])
def test_every_layout_says_the_same(binary: str, name: str, layout: Callable[[str, Path], Path], tmp_path: Path) -> None:
    expected = recorded(binary, "errors", name)
    made = document(binary, "errors", layout(name, tmp_path))
    streams = {stream for _, stream, _ in layouts.executors(name)}
    if layout is layouts.kubernetes and "stdout" in streams:
        assert kinds(made) <= kinds(expected)  # of executors only stderr
    else:
        assert kinds(made) == kinds(expected)
    assert made["unreadable"] == []
    timeline = document(binary, "timeline", tmp_path)
    tasks = {(task["id"], task["stage"], task["executor"]) for task in timeline["tasks"]}
    assert tasks == {(task["id"], task["stage"], task["executor"]) for task in recorded(binary, "timeline", name)["tasks"]}


def test_containers_and_executors_of_layouts(binary: str, tmp_path: Path) -> None:
    names = {}
    for layout in LAYOUTS:
        folder = tmp_path / layout.__name__
        folder.mkdir()
        made = document(binary, "errors", layout("spark35", folder))
        (heap,) = [e for e in made["errors"] if e["root"] and e["root"]["class"] == "java.lang.OutOfMemoryError"][:1]
        names[layout.__name__] = (heap["containers"], heap["executors"])
    assert all("container_1709280000000_0001_01_0000" in names[yarn][0][0] for yarn in ("emr", "node_manager", "yarn_output"))
    assert any(pod.startswith("etl-8f1c-exec-") for pod in names["kubernetes"][0])
    assert all(executors for _, executors in names.values())


def test_several_applications_in_one_call(binary: str, tmp_path: Path) -> None:
    for name in ("spark35", "spark4"):
        layouts.standalone(name, tmp_path / name)
    made = document(binary, "timeline", tmp_path / "spark35", tmp_path / "spark4")
    ids = [row["id"] for row in made["applications"]]
    assert len(ids) == len(set(ids)) == 2
    expected = sum(len(recorded(binary, "timeline", name)["tasks"]) for name in ("spark35", "spark4"))
    assert len(made["tasks"]) == expected


@pytest.mark.parametrize("name", RUNS)
def test_top_has_spark_s_own_lines(binary: str, name: str) -> None:
    made = recorded(binary, "top", name)
    lines = [line for chunk in made["chunks"] for line in chunk["lines"]]
    assert any("in stage <*>" in line for line in lines), lines[:5]
    assert 0 < sum(chunk["share"] for chunk in made["chunks"]) <= 1.001


def test_a_reason_may_follow_its_line(binary: str, tmp_path: Path) -> None:
    """Kubernetes says on the lines that follow why an executor was lost; losses of several causes are several errors."""
    reasons = {"heap": "52(JVM OOM)", "container-memory": "137(SIGKILL, possible container OOM)", "native-crash": "139(SIGSEGV: unexpected)"}
    log = tmp_path / "driver.log"
    lines = ["24/03/01 10:15:00 INFO SparkContext: Running Spark version 3.5.1"]
    for number, (cause, code) in enumerate(reasons.items()):
        lines.append(f"24/03/01 10:15:0{number} ERROR TaskSchedulerImpl: Lost executor {number} on 10.0.0.7: ")
        lines += [f"The executor with id {number} exited with exit code {code}.", "", "The API gave the following brief reason: null"]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = document(binary, "errors", log)
    assert {error["cause"] for error in made["errors"]} == set(reasons)
