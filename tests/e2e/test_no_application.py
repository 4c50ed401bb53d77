"""Logs that hold no application: an error with its reason in every way in, and no run."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import conftest
import pytest
from servers.pyrometer import Server

HEADER = {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"}
PROFILE = {
    "Event": "SparkListenerResourceProfileAdded",
    "Resource Profile Id": 0,
    "Executor Resource Requests": {},
    "Task Resource Requests": {},
}
START = {
    "Event": "SparkListenerApplicationStart",
    "App Name": "young",
    "App ID": "app-1",
    "Timestamp": 1700000000000,
    "User": "u",
}
ADDED = {
    "Event": "SparkListenerExecutorAdded",
    "Timestamp": 1700000000100,
    "Executor ID": "1",
    "Executor Info": {"Host": "h", "Total Cores": 2},
}
STAGE_END = {
    "Event": "SparkListenerStageCompleted",
    "Stage Info": {
        "Stage ID": 3,
        "Stage Attempt ID": 0,
        "Stage Name": "save",
        "Number of Tasks": 1,
        "RDD Info": [],
        "Submission Time": 1700000000200,
        "Completion Time": 1700000000900,
        "Accumulables": [],
    },
}
REASON = "not the log of a run"
# Whether it is a run, and its lines.
LOGS: dict[str, tuple[bool, list[Any]]] = {
    "header": (False, [HEADER]),
    "header-and-garbage": (False, [HEADER, "<html>busy</html>", '{"Event":"SparkListenerJobSta']),
    "executors-alone": (False, [HEADER, PROFILE, ADDED]),
    "just-started": (True, [HEADER, PROFILE, START]),
    "started-and-garbage": (True, [HEADER, START, "<html>busy</html>"]),
    "later-part": (True, [ADDED, STAGE_END]),
}


def write(folder: Path, name: str) -> Path:
    lines = (line if isinstance(line, str) else json.dumps(line) for line in LOGS[name][1])
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [str(conftest.binary_path()), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("name", LOGS)
def test_diagnose_refuses_what_is_no_run(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, name)
    done = command("diagnose", "--format", "json", path)
    if LOGS[name][0]:
        assert done.returncode == 0 and json.loads(done.stdout)["integrity"]["confidence"] < 0.9
    else:
        assert done.returncode == 3 and REASON in done.stderr
    read = subprocess.run(
        [str(conftest.binary_path()), "diagnose", "-"], input=path.read_bytes(), capture_output=True, check=False
    )
    assert read.returncode == done.returncode


def test_crawl_lists_them_as_errors(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in LOGS:
        write(logs, name)
    store = tmp_path / "runs.db"
    assert command("crawl", logs, "--store", f"sqlite:{store}", "--once").returncode == 0
    with sqlite3.connect(store) as database:
        errors = dict(database.execute("SELECT app_id, message FROM errors"))
        runs = database.execute("SELECT count(*) FROM runs").fetchone()[0]
    assert set(errors) == {name for name, (is_run, _) in LOGS.items() if not is_run}
    assert all(REASON in message for message in errors.values())
    assert runs == 2  # two of the logs are of one application


@pytest.mark.server
def test_the_list_shows_their_reason(tmp_path: Path) -> None:
    for name in LOGS:
        write(tmp_path, name)
    with Server(tmp_path) as server:
        listed = json.loads(server.request("GET", "/pyrometer/v1/applications")[2])
    reasons = {Path(one["path"]).name: one["error"] for one in listed["unreadable"]}
    assert {name for name, (is_run, _) in LOGS.items() if not is_run} <= set(reasons)
    assert all("application" in reason for reason in reasons.values())
    assert "app-1" in {application["id"] for application in listed["applications"]}
