"""Folders without an event log: the application that their text logs make is the one of the event log."""

from __future__ import annotations

import gzip
import json
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

import log_layouts as layouts
import pytest
from conftest import ROOT, run_command

WITH_EVENTS = ["spark35", "iso", "spark4", "json"]
LOW = 0.3


def within(name: str) -> int:
    """What the text resolves, in milliseconds; a line is written a little later."""
    return 1500 if name in ("spark35", "spark4") else 500


def without_events(name: str, target: Path) -> Path:
    return Path(shutil.copytree(layouts.RECORDED / name, target / name, ignore=shutil.ignore_patterns("events*")))


def rows(binary: str, folder: Path, statement: str) -> list[dict[str, Any]]:
    run = run_command([binary, "sql", str(folder), statement, "--format", "json"])
    assert run.exit == 0, run.explain()
    return json.loads(run.out)  # type: ignore[no-any-return]


def report(binary: str, *paths: Path) -> Any:
    run = run_command([binary, "diagnose", *map(str, paths), "--format", "json"])
    assert run.exit == 0, run.explain()
    return run.json


@lru_cache(maxsize=None)
def of_events(binary: str, name: str) -> Any:
    return report(binary, layouts.RECORDED / name / "events.zst")


def same_times(binary: str, name: str, folder: Path, statement: str) -> None:
    """The same rows, except what the text resolves of columns that end in _ms."""
    expected = rows(binary, layouts.RECORDED / name / "events.zst", statement)
    found = rows(binary, folder, statement)
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected):
        for column, value in other.items():
            if column.endswith("_ms") and value is not None:
                assert one[column] is not None and abs(one[column] - value) <= within(name), (column, one, other)
            else:
                assert one[column] == value, (column, one, other)


@pytest.mark.parametrize("name", WITH_EVENTS)
def test_jobs_stages_and_tasks_are_those_of_the_event_log(binary: str, name: str, tmp_path: Path) -> None:
    folder = without_events(name, tmp_path)
    same_times(binary, name, folder, "SELECT id, status, submitted_ms, completed_ms FROM jobs ORDER BY id")
    columns = "id, attempt, name, partitions, submitted_ms, completed_ms"
    same_times(binary, name, folder, f"SELECT {columns} FROM stages ORDER BY id, attempt")
    same_times(
        binary,
        name,
        folder,
        'SELECT id, stage, stage_attempt, "index", attempt, executor, host, status, launch_ms, finish_ms FROM tasks ORDER BY id',
    )
    same_times(binary, name, folder, "SELECT id, host, cores, added_ms FROM executors ORDER BY id")


@pytest.mark.parametrize("name", WITH_EVENTS)
def test_the_report_says_what_it_is_made_of(binary: str, name: str, tmp_path: Path) -> None:
    made, expected = report(binary, without_events(name, tmp_path)), of_events(binary, name)
    for key in ("id", "name", "spark_version", "status"):
        assert made["application"][key] == expected["application"][key]
    assert abs(made["application"]["duration_ms"] - expected["application"]["duration_ms"]) <= 2000
    assert made["integrity"]["confidence"] == LOW
    assert made["integrity"]["notes"][0].startswith("There is no event log: the application is made of 5 text logs")
    assert made["integrity"]["bad_lines"] == 0 and made["integrity"]["tasks_started"] == made["integrity"]["tasks_ended"]
    assert made["findings"] and all(finding["confidence"] <= LOW for finding in made["findings"])
    for key in ("jobs", "failed_jobs", "stages", "failed_stages", "tasks", "failed_tasks", "executors"):
        assert made["totals"][key] == expected["totals"][key], key


@pytest.mark.parametrize("name", WITH_EVENTS)
def test_failures_are_found(binary: str, name: str, tmp_path: Path) -> None:
    made, expected = report(binary, without_events(name, tmp_path)), of_events(binary, name)
    failures = {"executor-lost", "executor-oom", "job-failed", "task-failures"}
    found = {finding["rule"] for finding in made["findings"]} & failures
    assert found == {finding["rule"] for finding in expected["findings"]} & failures
    assert {"executor-lost", "executor-oom"} <= found


def test_logs_of_executors_alone(binary: str, tmp_path: Path) -> None:
    folder = without_events("spark35", tmp_path)
    (folder / "driver.log.gz").unlink()
    made = report(binary, folder)
    assert made["application"]["id"] == "app-20261123194048-0000"
    assert made["totals"]["jobs"] == 0 and made["totals"]["stages"] > 5
    started = rows(binary, folder, "SELECT count(*) AS tasks FROM tasks WHERE status IS NOT NULL")
    assert 0 < started[0]["tasks"] <= of_events(binary, "spark35")["totals"]["tasks"]


def test_several_applications(binary: str, tmp_path: Path) -> None:
    for name in ("spark35", "json"):
        without_events(name, tmp_path)
    made = report(binary, tmp_path)
    ids = [one["application"]["id"] for one in made["reports"]]
    assert sorted(ids) == ["app-20261123194048-0000", "app-20261123200813-0000"]
    assert all(one["totals"]["tasks"] > 30 for one in made["reports"])
    run = run_command([binary, "sql", str(tmp_path), "SELECT 1"])
    assert run.exit == 2 and b"2 logs" in run.err


def test_a_broken_file_stops_nothing(binary: str, tmp_path: Path) -> None:
    folder = without_events("spark35", tmp_path)
    torn = folder / "work" / "app-20261123194048-0000" / "1" / "stderr.gz"
    torn.write_bytes(torn.read_bytes()[:-2000])
    (folder / "garbage.bin").write_bytes(bytes(range(256)) * 40)
    (folder / "empty.log").write_bytes(b"")
    (made,) = report(binary, folder)["reports"]  # what cannot be read is listed next to it
    assert made["totals"]["tasks"] == of_events(binary, "spark35")["totals"]["tasks"]
    assert any(one["problems"] for one in made["profiling"]["artefacts"])


def test_logs_of_the_garbage_collector_alone(binary: str, tmp_path: Path) -> None:
    run = sorted((ROOT / "tests" / "artefacts" / "gc").iterdir())[0]
    for path in run.glob("*.gc*"):
        shutil.copy(path, tmp_path)
    made = report(binary, tmp_path)
    assert made["application"]["id"] in next(tmp_path.iterdir()).name
    assert made["integrity"]["confidence"] == LOW and made["application"]["duration_ms"] > 0
    assert made["profiling"]["gc_pauses"] and made["totals"]["tasks"] == 0
    assert made["integrity"]["notes"][0].startswith("There is no event log and no text log")


def test_a_log_that_names_no_application(binary: str, tmp_path: Path) -> None:
    folder = tmp_path / "nightly"
    folder.mkdir()
    text = gzip.decompress((layouts.RECORDED / "spark35" / "driver.log.gz").read_bytes())
    (folder / "driver.log").write_bytes(text.replace(b"app-20261123194048-0000", b"-"))
    made = report(binary, folder)
    assert made["application"]["id"] == "nightly" and made["application"]["name"] == "spark35"
    assert any(note.startswith("No file names the application") for note in made["integrity"]["notes"])
    assert made["totals"]["tasks"] == of_events(binary, "spark35")["totals"]["tasks"]


def test_nothing_to_read(binary: str, tmp_path: Path) -> None:
    (tmp_path / "readme").write_text("hello\n", encoding="utf-8")
    assert run_command([binary, "diagnose", str(tmp_path)]).exit == 3
    assert run_command([binary, "sql", str(tmp_path), "SELECT 1"]).exit == 3


def test_an_event_log_in_the_folder_is_what_counts(binary: str, tmp_path: Path) -> None:
    shutil.copytree(layouts.RECORDED / "spark35", tmp_path / "run")
    made, expected = report(binary, tmp_path / "run")["integrity"], of_events(binary, "spark35")["integrity"]
    assert made["confidence"] == 1 and made["lines"] == expected["lines"]


@pytest.mark.parametrize("text", ["java.lang.OutOfMemoryError: Java heap space\nDumping heap to java_pid9.hprof ...\n", "Killed\n"])
def test_folders_of_output_without_a_log(binary: str, tmp_path: Path, text: str) -> None:
    """Nothing says when the application ran: the message names what is in the folder, and what reads it."""
    path = tmp_path / "application_1709280000000_0001" / "container_1709280000000_0001_01_000002" / "stdout"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    run = run_command([binary, "diagnose", str(tmp_path)])
    assert run.exit == 3, run.explain()
    message = run.err.decode()
    assert "has no event log, only 1 other file" in message and str(path) in message and "text without times" in message
    assert f"pyrometer logs errors {tmp_path}" in message
    empty = tmp_path / "empty"
    empty.mkdir()
    run = run_command([binary, "diagnose", str(empty)])
    assert run.exit == 3 and b"has no event log" in run.err and b"other file" not in run.err


SERVERLESS = "logs/applications/00f1/jobs/00f2abc"
GLUE = "jr_" + "0a1b2c3d" * 8


@pytest.mark.parametrize("driver,executor,application", [
    (f"{SERVERLESS}/SPARK_DRIVER/stderr.gz", f"{SERVERLESS}/SPARK_EXECUTOR/{{}}/stderr.gz", "00f2abc"),
    (f"{SERVERLESS}/SPARK_DRIVER/archived/stderr_1.gz", f"{SERVERLESS}/SPARK_EXECUTOR_{{}}/stderr.gz", "00f2abc"),
    (f"{GLUE}-driver.log.gz", f"{GLUE}-{{}}.log.gz", GLUE),
])
def test_layouts_of_platforms(binary: str, tmp_path: Path, driver: str, executor: str, application: str) -> None:
    """Logs of the driver and the executors are distinguished by where they are, and belong to one application."""
    texts = {driver: layouts.driver("spark35")}
    texts.update({executor.format(n): text for n, stream, text in layouts.executors("spark35") if stream == "stderr"})
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))
    assert report(binary, tmp_path)["application"]["id"] == application
    found = rows(binary, tmp_path, "SELECT DISTINCT executor FROM threads WHERE executor IS NOT NULL ORDER BY 1")
    assert {row["executor"] for row in found} == {"driver", *(n for n, stream, _ in layouts.executors("spark35") if stream == "stderr")}


def test_the_driver_of_dataproc(binary: str, tmp_path: Path) -> None:
    path = tmp_path / "google-cloud-dataproc-metainfo" / "5f-1" / "jobs" / "job-7" / "driveroutput.000000000"
    path.parent.mkdir(parents=True)
    path.write_text(layouts.driver("spark35"))
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(path, alone / "driver.log")
    assert report(binary, tmp_path / "google-cloud-dataproc-metainfo")["totals"] == report(binary, alone)["totals"]
