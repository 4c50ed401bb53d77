"""Archives without an event log, uploaded: applications are made of the text logs in them."""

from __future__ import annotations

import http.client
import io
import json
import os
import time
import zipfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import log_layouts as layouts
import pytest
from servers.pyrometer import Server

import conftest

SOON = ("--update-interval", "100ms")
RUNS = {"spark35": "app-20261123194048-0000", "json": "app-20261123200813-0000"}
LOW = 0.3


def members(*names: str, events: bool = False) -> Dict[str, bytes]:
    found = {}
    for name in names:
        folder = layouts.RECORDED / name
        for path in sorted(folder.rglob("*")):
            if path.is_file() and (events or not path.name.startswith("events")):
                found[str(path.relative_to(layouts.RECORDED))] = path.read_bytes()
    return found


def archive(files: Dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return out.getvalue()


def ask(server: Server, method: str, path: str, body: bytes = b"") -> Tuple[int, Any]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    try:
        connection.request(method, f"/pyrometer/v1/{path}", body or None)
        response = connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None
    finally:
        connection.close()


def send(server: Server, files: Dict[str, bytes], name: str = "run.zip", status: int = 201) -> Any:
    found, document = ask(server, "POST", f"uploads?name={name}", archive(files))
    assert found == status, document
    return document


def listed(server: Server) -> List[str]:
    return sorted(one["id"] for one in ask(server, "GET", "applications")[1]["applications"])


def report(server: Server, app: str) -> Any:
    status, document = ask(server, "GET", f"applications/{app}/-/report")
    assert status == 200, document
    return document


def wait_until(what: Callable[[], bool], why: str) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, f"{why}: not in time"
        time.sleep(0.05)


@pytest.fixture()
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", sorted(RUNS))
def test_the_report_is_that_of_the_same_folder(binary: str, empty: Path, tmp_path: Path, name: str) -> None:
    for path, data in members(name).items():
        target = tmp_path / "run" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    alone = conftest.run_command([binary, "diagnose", str(tmp_path / "run"), "--format", "json", "--config", "none"]).json
    with Server(empty, *SOON) as server:
        document = send(server, members(name))
        assert [one["id"] for one in document["applications"]] == [RUNS[name]] and document["unreadable"] == []
        served = report(server, RUNS[name])
        for one in (served, alone):
            one["source"] = None
            one["profiling"]["artefacts"].sort(key=lambda row: Path(row["path"]).name)
            for row in one["profiling"]["artefacts"]:
                row["path"] = Path(row["path"]).name
        assert served == alone and served["integrity"]["confidence"] == LOW
        assert ask(server, "GET", f"applications/{RUNS[name]}/-/logs/top")[1]["chunks"]
        (app,) = ask(server, "GET", "applications")[1]["applications"]
        assert app["attempts"][0]["uploaded"]


def test_several_applications_in_one_archive(empty: Path) -> None:
    files = {**members("spark35", "json"), "notes.md": b"# nothing of ours\n", "stderr": b"26/11/23 19:45:01 INFO A: nobody's\n"}
    with Server(empty, *SOON) as server:
        document = send(server, files)
        assert sorted(one["id"] for one in document["applications"]) == sorted(RUNS.values())
        assert [one["path"] for one in document["unreadable"]] == ["run.zip!notes.md"]
        for name, app in RUNS.items():
            assert {Path(row["path"]).parts[0] for row in report(server, app)["profiling"]["artefacts"]} == {name}
        assert ask(server, "DELETE", f"uploads/{RUNS['json']}/-")[0] == 204  # with all that it had
        assert listed(server) == [] and "run.zip" not in str(ask(server, "GET", "applications"))


def test_what_names_no_application_is_called_after_the_archive(empty: Path) -> None:
    text = b"""26/11/23 19:45:01 INFO Executor: Running task 0.0 in stage 1.0 (TID 3)
26/11/23 19:45:05 INFO Executor: Finished task 0.0 in stage 1.0 (TID 3). 1000 bytes result sent to driver
"""
    with Server(empty, *SOON) as server:
        document = send(server, {"stderr": text}, "job.zip")
        assert [one["id"] for one in document["applications"]] == ["job.zip"]
        made = report(server, "job.zip")
        assert [stage["tasks"] for stage in made["stages"]] == [1]
        assert any("folder or archive" in note for note in made["integrity"]["notes"])


def test_it_stays_apart_from_a_run_with_its_event_log(empty: Path) -> None:
    (empty / "events.zst").write_bytes(members("spark35", events=True)["spark35/events.zst"])
    app = RUNS["spark35"]
    with Server(empty, *SOON) as server:
        before = report(server, app)
        document = send(server, members("spark35"))
        (made,) = [one["id"] for one in document["applications"]]
        assert len(listed(server)) == 2 and {app, made} <= {*listed(server), app}
        reports = [report(server, one) for one in listed(server)]
        assert sorted(one["integrity"]["confidence"] == LOW for one in reports) == [False, True]
        assert [one for one in reports if one == before]


def test_they_stay_and_are_not_opened_again(empty: Path, tmp_path: Path) -> None:
    uploads = tmp_path / "uploads"
    options = ("--uploads", str(uploads), *SOON)
    with Server(empty, *options) as server:
        send(server, {**members("spark35"), "notes.md": b"# nothing of ours\n"})
        send(server, members("json"), "other.zip")
        known = {app: report(server, app) for app in listed(server)}
        assert sorted(known) == sorted(RUNS.values())
        (empty / "new.md").write_text("# nothing of ours\n", "ascii")
        wait_until(lambda: "new.md" in str(ask(server, "GET", "applications")[1]["unreadable"]), "another update")
        assert listed(server) == sorted(known)
    with Server(empty, *options) as server:
        assert {app: report(server, app) for app in listed(server)} == known
        os.unlink(uploads / "other.zip")
        wait_until(lambda: listed(server) == [RUNS["spark35"]], "the archive is gone")


# ---- Text logs by themselves ----


def send_log(server: Server, name: str, body: bytes) -> Any:
    status, document = ask(server, "POST", f"uploads?name={name}", body)
    assert status == 201, document
    assert document["unreadable"] == []
    return document


def test_text_logs_that_are_sent_one_by_one(empty: Path, tmp_path: Path) -> None:
    app, files = RUNS["spark35"], members("spark35")
    driver = next(name for name in files if "driver" in name)
    others = sorted({*files} - {driver})
    options = ("--uploads", str(tmp_path / "uploads"), *SOON)
    with Server(empty, *options) as server:
        document = send_log(server, "driver.log.gz", files[driver])
        assert [one["id"] for one in document["applications"]] == [app]
        assert [one["file"] for one in document["files"]] == ["driver.log.gz"]
        assert report(server, app)["integrity"]["confidence"] == LOW
        for number, name in enumerate(others):
            status, document = ask(server, "POST", f"uploads?name={number}.gz&app={app}", files[name])
            assert status == 201 and [one["application"] for one in document["files"]] == [app], document
        made = report(server, app)
        assert len(made["profiling"]["artefacts"]) == len(files) > 1
    with Server(empty, *options) as server:
        assert report(server, app) == made
        whole = members("spark35", events=True)["spark35/events.zst"]
        assert [one["id"] for one in send_log(server, "events.zst", whole)["applications"]] == [app]
        found = report(server, app)  # the event log takes the place, with the same files
        assert listed(server) == [app] and found["integrity"]["confidence"] > LOW
        assert len(found["profiling"]["artefacts"]) == len(files)
        assert ask(server, "DELETE", f"uploads/{app}/-")[0] == 204
        assert report(server, app) == made
        assert ask(server, "DELETE", f"uploads/{app}/-")[0] == 204  # with all of its files
        assert listed(server) == [] and not list((tmp_path / "uploads").iterdir())


def test_processor_time_is_limited(empty: Path) -> None:
    line = b"26/11/23 19:45:%02d INFO Executor: Running task %d.0 in stage 1.0 (TID %d)\n"
    text = b"".join(line % (i % 60, i, i) for i in range(1000)) * 12000
    with Server(empty, "--upload-cpu", "1", *SOON) as server:
        document = send(server, {"driver.log": text}, status=429)
        assert "--upload-cpu" in document["error"]["message"]
        assert listed(server) == []


def test_archives_with_nothing_of_a_run(empty: Path) -> None:
    with Server(empty, *SOON) as server:
        document = send(server, {"notes.md": b"# nothing of ours\n"}, status=422)
        assert "cannot read an event log" in document["error"]["message"]
        assert listed(server) == []
