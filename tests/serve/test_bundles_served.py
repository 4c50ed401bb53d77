"""Folders with more than event logs, served: what each run left next to its log, against the command."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from servers.pyrometer import Server

import conftest

ARTEFACTS = conftest.ROOT / "tests" / "artefacts"
GC = ARTEFACTS / "gc"
LOGS = ARTEFACTS / "logs"
SOON = ("--update-interval", "100ms")
NEVER = ("--update-interval", "1d")


def get(server: Server, path: str, status: int = 200) -> Any:
    found, _, body = server.request("GET", f"/pyrometer/v1/{path}")
    assert found == status, body
    return json.loads(body)


def apps(server: Server) -> List[str]:
    return [one["id"] for one in get(server, "applications")["applications"]]


def unreadable(server: Server) -> Dict[str, str]:
    return {Path(one["path"]).name: one["error"] for one in get(server, "applications")["unreadable"]}


def report(server: Server, app: str) -> Any:
    return get(server, f"applications/{app}/-/report")


def artefacts(server: Server, app: str) -> List[str]:
    return [Path(one["path"]).name for one in report(server, app).get("profiling", {}).get("artefacts", [])]


def wait_until(what: Callable[[], bool], why: str) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, f"{why}: not in time"
        time.sleep(0.02)


def diagnose(binary: str, folder: Path) -> bytes:
    run = conftest.run_command([binary, "diagnose", str(folder), "--format", "json", "--config", "none"])
    assert run.exit == 0, run.explain()
    return run.out


def gc_logs(folder: Path) -> List[Path]:
    return sorted(path for path in folder.iterdir() if ".gc" in path.name)


FOLDERS = [*sorted(GC.iterdir()), *(LOGS / name for name in ("iso", "spark4"))]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.name))
def test_reports_are_those_of_diagnose(binary: str, tmp_path: Path, folder: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    with Server(copy) as server:
        (app,) = apps(server)
        assert unreadable(server) == {}
        served = server.request("GET", f"/pyrometer/v1/applications/{app}/-/report")[2]
    assert served == diagnose(binary, copy)
    assert json.loads(served)["profiling"]["artefacts"]


def test_runs_get_their_own_files(binary: str, tmp_path: Path) -> None:
    for name in ("serial", "parallel"):
        shutil.copytree(GC / name, tmp_path / name)
        for log in (tmp_path / name).glob("*.zst"):
            log.rename(tmp_path / log.name)
    (tmp_path / "lost.txt").write_text("[0.5s][info][gc] GC(0) Pause Young (Normal) 24M->4M(256M) 2.345ms\n", "ascii")
    expected = json.loads(diagnose(binary, tmp_path))
    with Server(tmp_path) as server:
        found = {app: report(server, app) for app in apps(server)}
        assert list(unreadable(server)) == ["lost.txt"]
        assert "several applications" in unreadable(server)["lost.txt"]
    assert found == {one["application"]["id"]: one for one in expected["reports"]}


PAUSE = "[0.5s][info][gc] GC(0) Pause Young (Normal) 24M->4M(256M) 2.345ms\n"


def add_near(folder: Path) -> None:
    """A file that names no application, in a folder of the run's folder."""
    (folder / "near").mkdir()
    (folder / "near" / "pauses.txt").write_text(PAUSE, "ascii")


def folders_of(one: Any, root: Path) -> List[str]:
    """Of the files of a report; also says that the file without an application is one of them."""
    paths = [Path(file["path"]) for file in one["profiling"]["artefacts"]]
    assert [path.name for path in paths].count("pauses.txt") == 1
    return sorted({path.relative_to(root).parts[0] for path in paths})


def test_files_without_an_id_belong_to_the_log_of_their_folder(binary: str, tmp_path: Path) -> None:
    names = ("parallel", "serial")
    for name in names:
        shutil.copytree(GC / name, tmp_path / name)
        add_near(tmp_path / name)
    run = conftest.run_command(
        [binary, "diagnose", *(str(tmp_path / name) for name in names), "--format", "json", "--config", "none"]
    )
    assert run.exit == 0, run.explain()
    assert [folders_of(one, tmp_path) for one in json.loads(run.out)["reports"]] == [[name] for name in names]


def roll(folder: Path, app: str) -> None:
    """Makes the event log in a folder the only part of a rolling one."""
    (log,) = folder.glob("*.zst")
    rolling = folder / f"eventlog_v2_{app}"
    rolling.mkdir()
    log.rename(rolling / f"events_1_{app}.zstd")
    (rolling / f"appstatus_{app}").touch()


def test_event_logs_in_folders_of_folders(binary: str, tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    shutil.copytree(GC / "serial", root / "a" / "b" / "c")
    shutil.copytree(GC / "g1", root / "linked-from")
    shutil.copytree(GC / "parallel", root / "d" / "e")
    (root / "linked-from").rename(outside)
    (root / "link").symlink_to(outside)
    (root / "d" / "notes.txt").write_text('{"Event": "none"}\n', "ascii")
    add_near(root / "a")
    add_near(root / "d")
    roll(root / "d" / "e", "app-1")
    expected = {one["application"]["id"]: one for one in json.loads(diagnose(binary, root))["reports"]}
    assert sorted(folders_of(one, root) for one in expected.values()) == [["a"], ["d"]]
    with Server(root, *SOON) as server:
        assert {app: report(server, app) for app in apps(server)} == expected
        assert unreadable(server) == {}
        outside.rename(root / "later")
        wait_until(lambda: len(apps(server)) == 3, "the folder that came is read")
        shutil.rmtree(root / "a")
        wait_until(lambda: len(apps(server)) == 2, "the folder that went is forgotten")


def test_reports_follow_their_files(tmp_path: Path) -> None:
    folder, waiting = tmp_path / "run", tmp_path / "waiting"
    shutil.copytree(GC / "serial", folder)
    waiting.mkdir()
    first, second = gc_logs(folder)[:2]
    second.rename(waiting / second.name)
    with Server(folder, *SOON) as server:
        (app,) = apps(server)
        path = f"/pyrometer/v1/applications/{app}/-/report"
        assert artefacts(server, app) == [first.name]
        before = report(server, app)["profiling"]["artefacts"][0]["records"]
        spark = [server.get(f"applications/{app}/{what}") for what in ("jobs", "stages", "executors")]
        tag = header(server, path, "etag")
        (waiting / second.name).rename(folder / second.name)
        wait_until(lambda: len(artefacts(server, app)) == 2, "the file that came is read")
        assert header(server, path, "etag") != tag
        text = gzip.decompress(first.read_bytes()) if first.suffix == ".gz" else first.read_bytes()
        lines = text.splitlines(keepends=True)
        (folder / "new").write_bytes(b"".join(lines[: len(lines) // 2]))
        (folder / "new").rename(first)
        wait_until(lambda: report(server, app)["profiling"]["artefacts"][0]["records"] < before, "the change is read")
        second.unlink()
        wait_until(lambda: len(artefacts(server, app)) == 1, "the file that went is forgotten")
        assert [server.get(f"applications/{app}/{what}") for what in ("jobs", "stages", "executors")] == spark
        assert server.count() == 1


def header(server: Server, path: str, name: str) -> str:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.headers.get(name, "")
    finally:
        connection.close()


def test_no_unchanged_file_is_opened(tmp_path: Path) -> None:
    """Reading a file sets its access time, where that is older than its last change."""
    folder = tmp_path / "run"
    shutil.copytree(LOGS / "iso", folder)
    (folder / "notes.md").write_text("# nothing of ours\n", "ascii")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "notes.md").write_text("# nothing of ours\n", "ascii")
    (folder / "deep" / "er" / "events.json").write_text('{"Event": "none"}\n', "ascii")
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        os.utime(path, (1, time.time() - 10))
    with Server(folder, *SOON) as server:
        (app,) = apps(server)
        report(server, app)
        for path in files:
            os.utime(path, (1, path.stat().st_mtime))
        (folder / "new.md").write_text("# nothing of ours\n", "ascii")  # the next update is one that finds something
        wait_until(lambda: "new.md" in unreadable(server), "another update is done")
        opened = [path.name for path in files if path.stat().st_atime != 1]
    if not reads_are_told(tmp_path):
        pytest.skip("this file system does not say when files were read")
    assert opened == []


def reads_are_told(folder: Path) -> bool:
    path = folder / "probe"
    path.write_text("x", "ascii")
    os.utime(path, (1, 2))
    path.read_bytes()
    return path.stat().st_atime != 1


def test_broken_files_stop_nothing(binary: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(GC / "parallel", folder)
    torn, whole = gc_logs(folder)[:2]
    torn.write_bytes(torn.read_bytes()[: len(torn.read_bytes()) // 2])
    (folder / "app.jfr").write_bytes(b"FLR\0" + bytes(100))
    (folder / "closed.log").write_text("26/11/23 10:15:00 ERROR Job: x\n", "ascii")
    (folder / "closed.log").chmod(0)
    with Server(folder) as server:
        (app,) = apps(server)
        served = report(server, app)
    assert served == json.loads(diagnose(binary, folder)).get("reports", [served])[0]
    rows = {Path(one["path"]).name: one for one in served["profiling"]["artefacts"]}
    assert rows[torn.name]["problems"] and not rows[whole.name]["problems"]


def test_folders_are_searched_eight_levels_deep(tmp_path: Path) -> None:
    log = next((GC / "serial").glob("*.zst"))
    gc = gc_logs(GC / "serial")[0]
    shutil.copy(log, tmp_path)
    deep = tmp_path
    for level in range(8):
        deep = deep / f"level{level}"
        deep.mkdir()
        shutil.copy(gc, deep / f"{level}-{gc.name}")
    outside = tmp_path.parent / "outside.gc"
    shutil.copy(gc, outside)
    (tmp_path / "link.gc").symlink_to(outside)
    with Server(tmp_path) as server:
        (app,) = apps(server)
        names = artefacts(server, app)
    assert sorted(int(re.match(r"(\d+)-", name).group(1)) for name in names) == list(range(7))  # type: ignore[union-attr]


def test_known_after_a_start(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(LOGS / "iso", folder)
    for _ in range(2):
        with Server(folder, "--cache", str(tmp_path / "cache"), *NEVER) as server:
            (app,) = apps(server)
            assert len(artefacts(server, app)) == 5 and unreadable(server) == {}
