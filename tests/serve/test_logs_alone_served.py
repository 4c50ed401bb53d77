"""Folders with applications that left no event log, served: made of their text logs."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any, Callable, List

import log_layouts as layouts
import pytest
from servers.pyrometer import Server

import conftest

SOON = ("--update-interval", "100ms")
RUNS = {"spark35": "app-20261123194048-0000", "json": "app-20261123200813-0000"}
LOW = 0.3


def copy(name: str, target: Path, events: bool = False) -> Path:
    ignore = None if events else shutil.ignore_patterns("events*")
    return Path(shutil.copytree(layouts.RECORDED / name, target / name, ignore=ignore))


def get(server: Server, path: str, status: int = 200) -> Any:
    found, _, body = server.request("GET", path)
    assert found == status, body
    return json.loads(body) if status == 200 else None


def listed(server: Server) -> List[str]:
    return sorted(one["id"] for one in get(server, "/pyrometer/v1/applications")["applications"])


def unreadable(server: Server) -> List[str]:
    return [Path(one["path"]).name for one in get(server, "/pyrometer/v1/applications")["unreadable"]]


def report(server: Server, app: str) -> Any:
    return get(server, f"/pyrometer/v1/applications/{app}/-/report")


def wait_until(what: Callable[[], bool], why: str) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, f"{why}: not in time"
        time.sleep(0.05)


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_report_is_that_of_diagnose(binary: str, tmp_path: Path, name: str) -> None:
    folder = copy(name, tmp_path)
    run = conftest.run_command([binary, "diagnose", str(folder), "--format", "json", "--config", "none"])
    assert run.exit == 0, run.explain()
    with Server(folder) as server:
        assert listed(server) == [RUNS[name]] and unreadable(server) == []
        assert server.request("GET", f"/pyrometer/v1/applications/{RUNS[name]}/-/report")[2] == run.out
    assert run.json["integrity"]["confidence"] == LOW


def known(rows: List[Any]) -> List[Any]:
    """Without what no log says: stages that were skipped, and the driver as an executor without tasks."""
    return [row for row in rows if row.get("status") != "SKIPPED" and row.get("id") != "driver"]


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_rest_api_answers_what_the_event_log_says(tmp_path: Path, name: str) -> None:
    made, whole = copy(name, tmp_path / "made"), copy(name, tmp_path / "whole", events=True)
    app = f"/api/v1/applications/{RUNS[name]}"
    with Server(made) as server, Server(whole) as other:
        one, two = (get(served, app) for served in (server, other))
        assert one["name"] == two["name"] and one["attempts"][0]["completed"]
        assert abs(one["attempts"][0]["startTimeEpoch"] - two["attempts"][0]["startTimeEpoch"]) < 5000
        assert abs(one["attempts"][0]["endTimeEpoch"] - two["attempts"][0]["endTimeEpoch"]) < 5000
        for path, members in {
            "/jobs": ("jobId", "status", "numFailedTasks", "numCompletedTasks", "numCompletedStages", "numFailedStages"),
            "/stages": ("stageId", "attemptId", "status", "numTasks", "numCompleteTasks", "numFailedTasks"),
            "/allexecutors": ("id", "isActive", "completedTasks", "totalCores"),
        }.items():
            found, expected = ([[row.get(key) for key in members] for row in known(get(served, app + path))] for served in (server, other))
            assert found == expected, path
        get(server, f"{app}/logs", 404)  # which stands for the event log
        assert get(server, f"/pyrometer/v1/applications/{RUNS[name]}/-/logs/top")["chunks"]


def test_next_to_applications_with_an_event_log(tmp_path: Path) -> None:
    copy("json", tmp_path)
    copy("spark35", tmp_path, events=True)
    (tmp_path / "lost.txt").write_text("26/11/23 19:45:01 INFO A: nobody's\n", "ascii")
    with Server(tmp_path) as server:
        assert listed(server) == sorted(RUNS.values())
        assert report(server, RUNS["json"])["integrity"]["confidence"] == LOW
        whole = report(server, RUNS["spark35"])
        assert whole["integrity"]["confidence"] > LOW
        files = [Path(row["path"]).name for row in whole["profiling"]["artefacts"]]
        assert "lost.txt" in files and unreadable(server) == []  # the only event log gets what names no application
        made = [Path(row["path"]) for row in report(server, RUNS["json"])["profiling"]["artefacts"]]
        assert made and all("json" in path.parts for path in made)


def test_the_event_log_takes_its_place(tmp_path: Path) -> None:
    folder = copy("spark35", tmp_path)
    with Server(folder, *SOON) as server:
        assert report(server, RUNS["spark35"])["integrity"]["confidence"] == LOW
        shutil.copy(layouts.RECORDED / "spark35" / "events.zst", folder / "new")
        (folder / "new").rename(folder / "events.zst")
        wait_until(lambda: report(server, RUNS["spark35"])["integrity"]["confidence"] > LOW, "the event log is read")
        assert listed(server) == [RUNS["spark35"]] and unreadable(server) == []
        (folder / "events.zst").unlink()
        wait_until(lambda: report(server, RUNS["spark35"])["integrity"]["confidence"] == LOW, "the logs are read again")
        assert listed(server) == [RUNS["spark35"]] and unreadable(server) == []


def end_of(server: Server, app: str) -> int:
    return int(get(server, f"/api/v1/applications/{app}")["attempts"][0]["endTimeEpoch"])


def test_logs_that_grow(tmp_path: Path) -> None:
    folder = copy("spark35", tmp_path)
    driver = folder / "driver.log"
    driver.write_bytes(gzip.decompress((folder / "driver.log.gz").read_bytes()))
    (folder / "driver.log.gz").unlink()
    app = RUNS["spark35"]
    with Server(folder, *SOON) as server:
        before, end = report(server, app), end_of(server, app)
        last = driver.read_text("utf-8").splitlines()[-1].split()
        hour, rest = last[1].split(":", 1)
        text = f"{last[0]} {(int(hour) + 1) % 24:02d}:{rest} WARN Probe: one more line\n"
        with driver.open("a", encoding="utf-8") as file:
            file.write(text)
        wait_until(lambda: report(server, app) != before, "the report is made of the new line")
        assert end_of(server, app) == end  # another process may still be writing
        os.utime(driver, (1, time.time() - 60))
        wait_until(lambda: end_of(server, app) > end, "the list has the new end")
        assert listed(server) == [app]


def test_applications_come_and_go(tmp_path: Path) -> None:
    copy("spark35", tmp_path)
    with Server(tmp_path, *SOON) as server:
        assert listed(server) == [RUNS["spark35"]]
        copy("json", tmp_path)
        wait_until(lambda: listed(server) == sorted(RUNS.values()), "the second one is listed")
        shutil.rmtree(tmp_path / "spark35")
        wait_until(lambda: listed(server) == [RUNS["json"]], "the first one is gone")


def test_no_unchanged_file_is_opened(tmp_path: Path) -> None:
    """Reading a file sets its access time, where that is older than its last change."""
    folder = copy("spark35", tmp_path)
    files = [path for path in folder.rglob("*") if path.is_file()]
    probe = tmp_path / "probe"
    probe.write_text("x", "ascii")
    with Server(folder, *SOON) as server:
        assert listed(server) == [RUNS["spark35"]]
        for path in (*files, probe):
            os.utime(path, ns=(10**9, path.stat().st_mtime_ns))
        (folder / "new.md").write_text("# nothing of ours\n", "ascii")  # the next update is one that finds something
        wait_until(lambda: "new.md" in unreadable(server), "another update is done")
        assert listed(server) == [RUNS["spark35"]]
        opened = [path.name for path in files if path.stat().st_atime != 1]
    probe.read_bytes()
    if probe.stat().st_atime == 1:
        pytest.skip("this file system does not say when files were read")
    assert opened == []


def test_folders_without_any_log(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# nothing of ours\n", "ascii")
    with Server(tmp_path) as server:
        assert listed(server) == [] and unreadable(server) == ["notes.md"]


def test_administrators_alone_see_them_where_access_is_checked(binary: str, tmp_path: Path) -> None:
    folder = copy("spark35", tmp_path)
    file = tmp_path / "tokens"
    tokens = {}
    for name, role in (("vera", "view"), ("ada", "admin")):
        run = conftest.run_command([binary, "serve", "--add-token", name, "--role", role, "--tokens", str(file)])
        tokens[name] = {"Authorization": f"Bearer {run.out.decode().strip()}"}
    with Server(folder, "--tokens", str(file), "--acls") as server:
        for name, expected in (("vera", []), ("ada", [RUNS["spark35"]])):
            status, _, body = server.request("GET", "/pyrometer/v1/applications", headers=tokens[name])
            assert status == 200 and [one["id"] for one in json.loads(body)["applications"]] == expected
