"""Logs of local folders are seen without waiting for the next look: the server looks only once a day."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest
from servers.pyrometer import Server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="folders are watched on Linux only")

DAY = ("--update-interval", "1d")


def eventually(what: Callable[[], bool]) -> None:
    for _ in range(300):
        if what():
            return
        time.sleep(0.1)
    assert what()


def text_of(app: str, ended: bool = True) -> str:
    events = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": app, "App ID": app, "Timestamp": 1700000000000, "User": "u"},
    ]
    if ended:
        events.append({"Event": "SparkListenerApplicationEnd", "Timestamp": 1700000009000})
    return "".join(json.dumps(event) + "\n" for event in events)


def write(folder: Path, app: str) -> None:
    (folder / app).write_text(text_of(app), encoding="utf-8")


@pytest.fixture()
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.fixture()
def server(logs: Path) -> Iterator[Server]:
    write(logs, "first")
    with Server(logs, *DAY) as running:
        assert running.count() == 1
        yield running


def metric(server: Server, name: str) -> int:
    return int(server.metrics()[f"pyrometer_{name}"])


def completed(server: Server, app: str) -> bool:
    status, _, body = server.get(f"applications/{app}")
    return status == 200 and json.loads(body)["attempts"][0]["completed"]


def test_logs_come_grow_and_go(logs: Path, server: Server) -> None:
    assert metric(server, "watched_folders") == 1 and metric(server, "unwatched_folders") == 0
    running = logs / "second.inprogress"
    running.write_text(text_of("second", ended=False), encoding="utf-8")
    eventually(lambda: server.count() == 2)
    assert not completed(server, "second")
    with running.open("a", encoding="utf-8") as file:
        file.write(text_of("second").splitlines()[-1] + "\n")
    running.rename(logs / "second")
    eventually(lambda: completed(server, "second"))
    (logs / "first").unlink()
    eventually(lambda: server.count() == 1)


def test_rolling_logs(logs: Path, server: Server) -> None:
    folder = logs / "eventlog_v2_app"
    folder.mkdir()
    (folder / "appstatus_app.inprogress").touch()
    lines = text_of("app").splitlines(keepends=True)
    (folder / "events_1_app").write_text("".join(lines[:2]), encoding="utf-8")
    eventually(lambda: server.count() == 2)
    (folder / "events_2_app").write_text(lines[2], encoding="utf-8")
    (folder / "appstatus_app.inprogress").rename(folder / "appstatus_app")
    eventually(lambda: completed(server, "app"))
    assert metric(server, "watched_folders") == 2
    shutil.rmtree(folder)
    eventually(lambda: server.count() == 1 and metric(server, "watched_folders") == 1)


def test_a_folder_that_is_replaced(logs: Path, server: Server) -> None:
    logs.rename(logs.with_name("elsewhere"))
    eventually(lambda: server.count() == 0)
    logs.mkdir()
    for app in ("a", "b", "c"):
        write(logs, app)
    eventually(lambda: server.count() == 3)
    write(logs, "d")
    eventually(lambda: server.count() == 4)


@pytest.mark.slow
def test_a_burst(logs: Path, server: Server) -> None:
    """Few looks for many changes."""
    before = metric(server, "list_changes_total")
    for i in range(2000):
        write(logs, f"app-{i}")
    eventually(lambda: server.count() == 2001)
    assert metric(server, "list_changes_total") - before < 200


def test_thousands_of_folders(logs: Path) -> None:
    """The newest are watched; the rest waits for a look, and the server says how many those are."""
    for i in range(5000):
        (logs / f"eventlog_v2_{i}").mkdir()
    with Server(logs, *DAY) as server:
        watched, unwatched = metric(server, "watched_folders"), metric(server, "unwatched_folders")
        assert watched + unwatched == 5001 and 1 <= watched <= 4096
        folder = logs / "eventlog_v2_app"
        folder.mkdir()
        (folder / "events_1_app").write_text(text_of("app"), encoding="utf-8")
        (folder / "appstatus_app").touch()
        eventually(lambda: server.count() == 1)
        write(logs, "other")
        eventually(lambda: server.count() == 2)
        assert metric(server, "watched_folders") <= 4096
