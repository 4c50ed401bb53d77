"""Uploads of more than event logs."""

from __future__ import annotations

import http.client
import io
import json
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

import pytest
from servers.pyrometer import Server

import conftest

ARTEFACTS = conftest.ROOT / "tests" / "artefacts"
RUN = ARTEFACTS / "gc" / "serial"
TEXT = ARTEFACTS / "logs" / "iso" / "driver.log.gz"


def send(server: Server, method: str, path: str, body: bytes = b"") -> Tuple[int, Any]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    try:
        connection.request(method, f"/pyrometer/v1/{path}", body or None)
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


ISO = ARTEFACTS / "logs" / "iso" / "events.zst"
JFR = ARTEFACTS / "profiles" / "async.jfr.gz"


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


@pytest.mark.parametrize("name, kind", [("driver.log.gz", "text-log"), ("async.jfr.gz", "jfr")])
def test_single_files_are_refused_with_what_to_do(server: Server, name: str, kind: str) -> None:
    path = next(ARTEFACTS.rglob(name))
    status, document = send(server, "POST", f"uploads?name={name}", path.read_bytes())
    assert status == 422 and f"({kind})" in document["error"]["message"] and "zip archive" in document["error"]["message"]
    status, document = send(server, "POST", "uploads?name=x", b"nothing of ours\n")
    assert status == 422 and "cannot read an event log" in document["error"]["message"]
