"""Uploads of more than event logs."""

from __future__ import annotations

import http.client
import io
import json
import os
import time
import zipfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import pytest
import schemas
from servers.pyrometer import Server

import conftest

ARTEFACTS = conftest.ROOT / "tests" / "artefacts"
RUN = ARTEFACTS / "gc" / "serial"
TEXT = ARTEFACTS / "logs" / "iso" / "driver.log.gz"


def send(
    server: Server, method: str, path: str, body: bytes = b"", headers: Optional[Dict[str, str]] = None
) -> Tuple[int, Any]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    try:
        connection.request(method, f"/pyrometer/v1/{path}", body or None, headers or {})
        response = connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None
    finally:
        connection.close()


def archive(members: Dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def files() -> Dict[str, bytes]:
    return {str(path.relative_to(RUN)): path.read_bytes() for path in sorted(RUN.rglob("*")) if path.is_file()}


@pytest.fixture()
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "logs").mkdir()
    with Server(tmp_path / "logs", "--update-interval", "200ms") as server:
        yield server


def report(server: Server, app: str) -> Any:
    status, document = send(server, "GET", f"applications/{app}/-/report")
    assert status == 200, document
    return document


def sent(server: Server, members: Dict[str, bytes]) -> Any:
    status, document = send(server, "POST", "uploads?name=run.zip", archive(members))
    assert status == 201, document
    return document


def test_an_archive_is_one_bundle(binary: str, server: Server) -> None:
    document = sent(server, files())
    (app,) = [one["id"] for one in document["applications"]]
    assert document["unreadable"] == []
    served = report(server, app)
    alone = conftest.run_command([binary, "diagnose", str(RUN), "--format", "json", "--config", "none"]).json
    for one in (served, alone):
        one["source"] = None
        for artefact in one["profiling"]["artefacts"]:
            artefact["path"] = Path(artefact["path"]).name
    assert served == alone and served["profiling"]["gc_pauses"]
    assert send(server, "GET", f"applications/{app}/-/profile")[0] == 200
    assert send(server, "GET", f"applications/{app}/-/logs/errors")[0] == 404
    assert not [one for one in send(server, "GET", "applications")[1]["unreadable"] if "run.zip" in one["path"]]
    assert send(server, "DELETE", f"uploads/{app}/-")[0] == 204


def test_what_is_sent_belongs_to_no_other_run(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (log,) = [name for name in files() if name.endswith(".zst")]
    (folder / log).write_bytes(files()[log])
    members = {name: data for name, data in files().items() if name != log}
    members["other.zst"] = (conftest.ROOT / "corpus" / "logs" / "data_skew.zst").read_bytes()
    with Server(folder, "--update-interval", "200ms") as server:
        before = [one["id"] for one in send(server, "GET", "applications")[1]["applications"]]
        document = sent(server, members)
        assert [one["id"] for one in document["applications"]] != before
        assert "profiling" not in report(server, before[0])
        assert "profiling" not in report(server, document["applications"][0]["id"])


SAID = b"""24/03/01 10:15:02 INFO Executor: Running task 0.0 in stage 1.0 (TID 3)
24/03/01 10:15:03 WARN BlockManager: Putting block rdd_1_0 failed
"""


def test_broken_members_stop_nothing(server: Server) -> None:
    members = {**files(), "broken.jfr": b"FLR\0" + bytes(60), "notes.md": b"# nothing of ours\n", TEXT.name: TEXT.read_bytes()}
    members["stderr"] = SAID  # the other text log names another run
    document = sent(server, members)
    reasons = {one["path"]: one["error"] for one in document["unreadable"]}
    assert sorted(reasons) == ["run.zip!notes.md"]
    rows = {one["path"]: one for one in report(server, document["applications"][0]["id"])["profiling"]["artefacts"]}
    assert rows.pop("broken.jfr")["problems"]
    assert rows["stderr"]["kind"] == "text-log" and rows["stderr"]["records"] == 2
    assert len(rows) == len(files()) and not any(one["problems"] for one in rows.values())


def test_logs_and_flame_graphs_of_archives(binary: str, server: Server, tmp_path: Path) -> None:
    members = {"events.zst": ISO.read_bytes(), f"logs/{TEXT.name}": TEXT.read_bytes(), "logs/stderr": SAID, JFR.name: JFR.read_bytes()}
    (app,) = [one["id"] for one in sent(server, members)["applications"]]
    zipped = tmp_path / "run.zip"
    zipped.write_bytes(archive(members))
    for verb in ("errors", "top", "timeline"):
        status, served = send(server, "GET", f"applications/{app}/-/logs/{verb}")
        told = conftest.run_command([binary, "logs", verb, "-f", "json", str(zipped)]).json
        assert status == 200 and served.pop("bytes") < told.pop("bytes")  # which looks into the other members as well
        assert served == told and served["files"] == 2 and served["records"] > 100
    folded = tmp_path / "x.folded"
    assert conftest.run_command([binary, "flame", str(JFR), "-o", str(folded)]).exit == 0
    assert server.request("GET", f"/pyrometer/v1/applications/{app}/-/flame?format=folded")[2] == folded.read_bytes()
    status, document = send(server, "GET", f"applications/{app}/-/flame?format=folded&task=999999")
    assert status == 422 and "no sample" in document["error"]["message"]


# ---- Single files ----

ISO = ARTEFACTS / "logs" / "iso" / "events.zst"
APP = "app-20261123194447-0000"
JFR = ARTEFACTS / "profiles" / "async.jfr.gz"


def send_file(server: Server, name: str, body: bytes, app: str = "") -> Tuple[int, Any]:
    return send(server, "POST", f"uploads?name={name}" + (f"&app={app}" if app else ""), body)


def accepted(server: Server, name: str, body: bytes, app: str = "") -> Any:
    status, document = send_file(server, name, body, app)
    assert status == 201, document
    schemas.check(document, "pyrometer.upload-1.json")
    assert document["applications"] == [] and document["unreadable"] == []
    (one,) = document["files"]
    return one


def rows(server: Server) -> Dict[str, Any]:
    return {one["path"]: one for one in report(server, APP).get("profiling", {}).get("artefacts", [])}


@pytest.mark.parametrize("how", ["folder", "upload", "archive"])
def test_a_single_file_belongs_to_the_application_that_it_names(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    if how == "folder":
        (folder / ISO.name).write_bytes(ISO.read_bytes())
    with Server(folder, "--update-interval", "100ms") as server:
        if how == "upload":
            assert send(server, "POST", "uploads?name=events", ISO.read_bytes())[0] == 201
        elif how == "archive":
            sent(server, {"events": ISO.read_bytes(), "notes.gc": next(RUN.rglob("*.gc*")).read_bytes()})
        before = report(server, APP)
        one = accepted(server, TEXT.name, TEXT.read_bytes())
        assert (one["application"], one["kind"], one["file"]) == (APP, "text-log", TEXT.name)
        assert rows(server)[TEXT.name]["records"] > 100 and not rows(server)[TEXT.name]["problems"]
        assert send(server, "GET", f"applications/{APP}/-/logs/errors")[1]["files"] == 1
        assert not [one for one in send(server, "GET", "applications")[1]["unreadable"] if TEXT.name in one["path"]]
        second = accepted(server, TEXT.name, TEXT.read_bytes())["file"]  # under a name of its own
        assert second != TEXT.name and second in rows(server)
        for name in (second, TEXT.name):
            assert send(server, "DELETE", f"uploads/{APP}/-?file={name}")[0] == 204
            assert send(server, "DELETE", f"uploads/{APP}/-?file={name}")[0] == 404
        assert report(server, APP) == before


def test_single_files_are_sent_for_an_application(tmp_path: Path) -> None:
    folder, uploads = tmp_path / "logs", tmp_path / "uploads"
    folder.mkdir()
    (folder / ISO.name).write_bytes(ISO.read_bytes())
    options = ("--uploads", str(uploads), "--update-interval", "100ms")
    with Server(folder, *options) as server:
        assert send_file(server, "x.jfr", JFR.read_bytes())[0] == 422
        name = accepted(server, "../x~y.jfr", JFR.read_bytes(), APP)["file"]
        assert name == f"x_y.jfr~{APP}" and [one.name for one in kept(uploads)] == [name]
        accepted(server, "stderr", SAID, APP)
        assert sorted(one["kind"] for one in rows(server).values()) == ["jfr", "text-log"]
        assert send_file(server, "stderr", SAID, "app-20990101000000-0000")[0] == 422
        known = rows(server)
    with Server(folder, *options) as server:  # what it belongs to is known after a start
        assert rows(server) == known
        (folder / ISO.name).unlink()  # then the run is made of its text log
        wait_until(lambda: report(server, APP)["integrity"]["confidence"] <= 0.3)
        assert sorted(one["kind"] for one in rows(server).values()) == ["jfr", "text-log"]
        assert send(server, "DELETE", f"uploads/{APP}/-?file={name}")[0] == 204
        assert send(server, "DELETE", f"uploads/{APP}/-?file=../logs")[0] == 404
        assert len(kept(uploads)) == 1


def kept(uploads: Path) -> List[Path]:
    """Bodies go away just after their answers."""
    return [path for path in uploads.iterdir() if not path.name.startswith(".incoming-")]


def wait_until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_unchanged_uploads_are_not_opened(tmp_path: Path) -> None:
    folder, uploads = tmp_path / "logs", tmp_path / "uploads"
    folder.mkdir()
    uploads.mkdir()
    (folder / ISO.name).write_bytes(ISO.read_bytes())
    (uploads / "notes.md").write_text("# nothing of ours\n", "ascii")
    with Server(folder, "--uploads", str(uploads), "--update-interval", "100ms") as server:
        accepted(server, TEXT.name, TEXT.read_bytes())
        files = kept(uploads)
        report(server, APP)
        for path in files:
            os.utime(path, ns=(10**9, path.stat().st_mtime_ns))
        (folder / "new.md").write_text("# nothing of ours\n", "ascii")
        wait_until(lambda: "new.md" in str(send(server, "GET", "applications")[1]["unreadable"]))
        assert len(files) == 2 and [path.name for path in files if path.stat().st_atime != 1] == []


@pytest.mark.parametrize("name, kind, word", [(f"{APP}.jfr.gz", "jfr", APP), ("async.jfr.gz", "jfr", "parameter app")])
def test_single_files_are_refused_with_what_to_do(server: Server, name: str, kind: str, word: str) -> None:
    status, document = send_file(server, name, JFR.read_bytes())
    message = document["error"]["message"]
    assert status == 422 and kind in message and "zip archive" in message and word in message
    status, document = send(server, "POST", "uploads?name=x", b"nothing of ours\n")
    assert status == 422 and "cannot read an event log" in document["error"]["message"]
    assert [one["error"] for one in send(server, "GET", "applications")[1]["unreadable"]] == ["has no event log"]


def test_files_of_hidden_applications_are_refused(tmp_path: Path) -> None:
    tokens, folder, uploads = tmp_path / "tokens", tmp_path / "logs", tmp_path / "uploads"
    folder.mkdir()
    (folder / ISO.name).write_bytes(ISO.read_bytes())
    words = [str(conftest.binary_path()), "serve", "--add-token", "ugo", "--role", "upload", "--tokens", str(tokens)]
    token = {"Authorization": f"Bearer {conftest.run_command(words).out.decode().strip()}"}
    with Server(folder, "--tokens", str(tokens), "--acls", "--uploads", str(uploads)) as server:
        for query in ("", f"&app={APP}"):
            status, document = send(server, "POST", f"uploads?name=x{query}", TEXT.read_bytes(), token)
            assert status == 422 and not list(uploads.glob("x*")), document
        (uploads / "driver.log").write_bytes(TEXT.read_bytes())
        assert send(server, "DELETE", f"uploads/{APP}/-?file=driver.log", b"", token)[0] == 404


def test_the_processor_time_of_a_text_log_is_limited(tmp_path: Path) -> None:
    """To find out that it is not an event log takes little; to read its lines takes more than the limit."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / ISO.name).write_bytes(ISO.read_bytes())
    lines = 9_000_000
    text = b"".join(b"26/11/23 19:45:%02d INFO A: %d\n" % (i % 60, i) for i in range(1000)) * (lines // 1000)
    with Server(folder, "--upload-cpu", "1") as server:
        for _ in range(3):  # together they have the limit of one
            accepted(server, "driver.log", text, APP)
        found = rows(server).values()
        assert len(found) == 3 and all("--upload-cpu" in row["problems"] for row in found)
        assert sum(row["records"] or 0 for row in found) < lines
        status, document = send(server, "GET", f"applications/{APP}/-/logs/top")
        assert status == 422 and "--upload-cpu" in document["error"]["message"]
        assert report(server, APP)["application"]["id"] == APP
