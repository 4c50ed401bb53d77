"""Two applications in one file (cat a b) are never one run: the file is refused, with the line at which to split it."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any, List, Optional

import cramjam
import pytest
from servers.pyrometer import Server

import conftest

LOGS = [conftest.ROOT / "corpus" / "logs" / f"{name}.zst" for name in ("healthy_sql", "data_skew")]


def text(number: int) -> bytes:
    return bytes(cramjam.zstd.decompress(LOGS[number].read_bytes()))


def event(name: str, **fields: Any) -> bytes:
    return json.dumps({"Event": f"SparkListener{name}", **fields}).encode() + b"\n"


def small(app: Optional[str], start: int, attempt: Optional[str] = None, name: str = "job") -> bytes:
    fields = {"App Name": name, "Timestamp": start, "User": "eve"}
    fields.update({"App ID": app} if app else {})
    fields.update({"App Attempt ID": attempt} if attempt else {})
    return (event("LogStart", **{"Spark Version": "3.5.6"}) + event("ApplicationStart", **fields)
            + event("JobStart", **{"Job ID": 0, "Submission Time": start + 10, "Stage IDs": [], "Stage Infos": [], "Properties": {}})
            + event("JobEnd", **{"Job ID": 0, "Completion Time": start + 20, "Job Result": {"Result": "JobSucceeded"}})
            + event("ApplicationEnd", Timestamp=start + 30))


JOINED: List[Any] = [pytest.param(lambda: text(0) + text(1), id="plain"),
                     pytest.param(lambda: gzip.compress(text(0)) + gzip.compress(text(1)), id="gzip members"),
                     pytest.param(lambda: LOGS[0].read_bytes() + LOGS[1].read_bytes(), id="zstd frames")]


@pytest.mark.parametrize("make", JOINED)
@pytest.mark.parametrize("threads", [1, 2])
def test_joined_logs_are_refused(binary: str, tmp_path: Path, make: Any, threads: int) -> None:
    path = tmp_path / "both"
    path.write_bytes(make())
    run = conftest.run_command([binary, "diagnose", "--threads", str(threads), str(path)])
    assert run.exit == 3 and b"holds two applications" in run.err, run.explain()
    line = int(re.findall(rb"split it at line (\d+)", run.err)[0])
    lines = (text(0) + text(1)).splitlines(keepends=True)
    assert b"SparkListenerLogStart" in lines[line - 1] and b"".join(lines[: line - 1]) == text(0)
    with path.open("rb") as stream:
        run = conftest.run_command([binary, "diagnose", "-"], stdin=stream)
    assert run.exit == 3 and b"holds two applications" in run.err, run.explain()


def test_halves_are_read(diagnose: Any, tmp_path: Path) -> None:
    """As the message says."""
    path = tmp_path / "both"
    path.write_bytes(small("app-1", 1_700_000_000_000) + small("app-2", 1_700_000_100_000))
    line = int(re.findall(rb"app-1 \(lines 1 to 5\) and app-2: split it at line (\d+)", diagnose(path).err)[0])
    lines = path.read_bytes().splitlines(keepends=True)
    for half, app in ((lines[: line - 1], "app-1"), (lines[line - 1:], "app-2")):
        path.write_bytes(b"".join(half))
        assert diagnose(path).json["application"]["id"] == app


def test_attempts_and_ids(diagnose: Any, tmp_path: Path) -> None:
    """Attempts are runs of their own; the same start again is a repeated event."""
    path = tmp_path / "both"
    first = small("app-1", 1_700_000_000_000, "1")
    path.write_bytes(first + small("app-1", 1_700_000_100_000, "2"))
    run = diagnose(path)
    assert run.exit == 3 and b"two attempts of an application, 1 (lines 1 to 5) and 2" in run.err, run.explain()
    path.write_bytes(small(None, 1_700_000_000_000) + small(None, 1_700_000_100_000, name="other"))
    assert diagnose(path).exit == 3
    path.write_bytes(first + first)
    run = diagnose(path)
    assert run.exit == 0 and run.json["integrity"]["repeated_events"] > 0, run.explain()
    path.write_bytes(first.split(b"\n", 2)[2] + small("app-2", 1_700_000_100_000))  # the first one lacks its beginning
    run = diagnose(path)
    assert run.exit == 3 and b"one without its beginning" in run.err, run.explain()


def test_parts_of_one_application_are_one(diagnose: Any, tmp_path: Path) -> None:
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    lines = small("app-1", 1_700_000_000_000).splitlines(keepends=True)
    for number, part in enumerate((lines[:3], lines[:2] + lines[3:])):  # each with its own start
        (folder / f"events_{number + 1}_app-1").write_bytes(b"".join(part))
    run = diagnose(folder)
    assert run.exit == 0 and run.json["application"]["id"] == "app-1", run.explain()


def test_folders_and_servers(diagnose: Any, tmp_path: Path) -> None:
    """One file with two applications stops no other; it is unreadable in a folder and in the server's list."""
    logs = tmp_path / "logs"
    logs.mkdir()
    both = small("app-1", 1_700_000_000_000) + small("app-2", 1_700_000_100_000)
    (logs / "good").write_bytes(small("app-3", 1_700_000_000_000))
    (logs / "both").write_bytes(both)
    (logs / "both.gz").write_bytes(gzip.compress(both))
    run = diagnose(logs)
    found = run.json
    assert [one["application"]["id"] for one in found.get("reports", [found])] == ["app-3"], run.explain()
    with Server(logs) as server:
        assert [one["id"] for one in json.loads(server.get("applications")[2])] == ["app-3"]
        unreadable = json.loads(server.request("GET", "/pyrometer/v1/applications")[2])["unreadable"]
        assert len(unreadable) == 2 and all("two applications" in one["error"] for one in unreadable)


def large(app: str, mib: int) -> bytes:
    """An application that starts a task in each KiB."""
    begin, end = small(app, 1_700_000_000_000).split(b'{"Event": "SparkListenerJobEnd"')
    task = {"Stage ID": 0, "Stage Attempt ID": 0, "Task Info": {"Task ID": 0, "Host": "h" * 900}}
    row = event("TaskStart", **task).replace(b'": ', b'":').replace(b'"Task ID":0', b'"Task ID":%d')
    return begin + b"".join(row % number for number in range(mib << 10)) + b'{"Event": "SparkListenerJobEnd"' + end


@pytest.mark.parametrize("sizes", [(1, 18), (18, 3), (20, 20)])
def test_large_files_are_listed_as_what_they_are(tmp_path: Path, sizes: List[int]) -> None:
    """Though servers do not read all of them for their list: the second application is long, short, or begins in the middle."""
    (tmp_path / "both").write_bytes(b"".join(large(f"app-{number}", mib) for number, mib in enumerate(sizes)))
    (tmp_path / "one").write_bytes(large("app-7", sum(sizes)))
    assert (tmp_path / "both").stat().st_size > 16 << 20
    with Server(tmp_path) as server:
        listed = json.loads(server.request("GET", "/pyrometer/v1/applications")[2])
    assert [one["id"] for one in listed["applications"]] == ["app-7"]
    assert [(Path(one["path"]).name, "holds two applications" in one["error"]) for one in listed["unreadable"]] == [("both", True)]
