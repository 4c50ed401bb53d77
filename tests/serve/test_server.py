"""The server itself: its address, its end, and malformed requests."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Iterator, List

import pytest
from servers.pyrometer import Answer, Server

import conftest

LOG = conftest.ROOT / "corpus" / "logs" / "data_skew.zst"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("logs")
    shutil.copy(LOG, folder / LOG.name)
    (folder / "notes").write_text("no event log\n", encoding="utf-8")
    with Server(folder) as running:
        yield running


def app_id(server: Server) -> str:
    return json.loads(server.get("applications")[2])[0]["id"]


def test_listens_on_loopback(server: Server) -> None:
    assert server.host == "127.0.0.1"


def test_version(server: Server) -> None:
    assert json.loads(server.get("version")[2]) == {"spark": "3.5.6"}


def test_what_is_no_log_is_left_out(server: Server) -> None:
    assert len(json.loads(server.get("applications")[2])) == 1


def test_agrees_with_diagnose(server: Server) -> None:
    """Counters by Spark's rules and by the columns of the model, which are decoded apart from each other."""
    report = conftest.run_command([str(conftest.binary_path()), "diagnose", str(LOG), "--format", "json"]).json
    stages = json.loads(server.get(f"applications/{app_id(server)}/stages")[2])
    ran = {(one["stageId"], one["attemptId"]): one for one in stages if one["status"] != "SKIPPED"}
    assert len(ran) == report["totals"]["stages"]
    assert sum(one["executorRunTime"] for one in ran.values()) == report["totals"]["run_ms"]
    assert sum(one["shuffleReadBytes"] for one in ran.values()) == report["totals"]["shuffle_read_bytes"]
    assert sum(one["numCompleteTasks"] for one in ran.values()) == report["totals"]["tasks"]


def test_head_has_no_body(server: Server) -> None:
    assert server.request("HEAD", "/api/v1/version")[::2] == (200, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_only_reading(server: Server, method: str) -> None:
    assert server.request(method, "/api/v1/version")[0] == 405


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/api/v1/", "/api/v2/version", "/../../etc/passwd",
                                  "/api/v1/applications/..%2f..%2fetc/jobs", "/api/v1/" + "a/" * 100])
def test_other_paths(server: Server, path: str) -> None:
    assert server.request("GET", path)[0] == 404


def test_parameters_of_any_kind(server: Server) -> None:
    app = app_id(server)
    for query in ("length=-1&status=success", "offset=999999", "offset=-3", "status=failed&status=success"):
        status, _, body = server.get(f"applications/{app}/stages/0/0/taskList?{query}")
        assert status == 200 and isinstance(json.loads(body), list)
    for query in ("length=-1", "length=0"):
        assert server.get(f"applications/{app}/stages/0/0/taskList?{query}")[0] == 500
    for query in ("length=x", "sortBy=colour", "status=lost", "offset=99999999999999999999"):
        assert server.get(f"applications/{app}/stages/0/0/taskList?{query}")[0] == 404
    assert server.get(f"applications/{app}/stages/0/0/taskSummary?quantiles=-1,2")[0] == 200


def test_huge_headers_are_refused(server: Server) -> None:
    with socket.create_connection((server.host, server.port), timeout=10) as connection:
        try:
            connection.sendall(b"GET /api/v1/version HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 200_000 + b"\r\n\r\n")
            first = connection.recv(64)
        except ConnectionError:
            first = b""
    assert first == b"" or first.split()[1] in (b"413", b"414", b"431"), first
    assert server.get("version")[0] == 200


def test_many_at_once(server: Server) -> None:
    answers: List[Answer] = []
    path = f"applications/{app_id(server)}/stages"
    threads = [threading.Thread(target=lambda: answers.append(server.get(path))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 16 and len(set(answers)) == 1


def test_evicted_applications_open_again(tmp_path: Path) -> None:
    for name in ("data_skew.zst", "disk_spill.zst"):
        if (LOG.parent / name).exists():
            shutil.copy(LOG.parent / name, tmp_path / name)
    with Server(tmp_path, "--memory", "1K") as tight:
        ids = [one["id"] for one in json.loads(tight.get("applications")[2])]
        first = [tight.get(f"applications/{one}/jobs") for one in ids]
        assert [tight.get(f"applications/{one}/jobs") for one in ids] == first


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_when_asked(tmp_path: Path, number: int) -> None:
    shutil.copy(LOG, tmp_path / LOG.name)
    server = Server(tmp_path)
    assert server.get("version")[0] == 200
    assert server.stop(number) == 0


def test_an_empty_folder_lists_nothing(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        assert json.loads(server.get("applications")[2]) == []


def test_taken_port_and_bad_usage(server: Server, tmp_path: Path) -> None:
    binary = str(conftest.binary_path())
    for arguments, status in (
        (["serve", str(tmp_path), "--port", str(server.port)], 4),
        (["serve", str(tmp_path), "--port", "65536"], 2),
        (["serve", str(tmp_path), "--host", "somewhere"], 2),
        (["serve"], 2),
    ):
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=20, check=False)
        assert (done.returncode, done.stdout) == (status, "")
        assert done.stderr.startswith("pyrometer")
