"""Answers of many megabytes, which are written while they are sent."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
from servers.pyrometer import Server

START_MS = 1700000000000
APP = "app-20231114000000-0001"
JOBS, TASKS = 4000, 3000
LONG = 2 << 20  # answers of more come in pieces


def events() -> Iterator[Dict[str, Any]]:
    yield {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"}
    yield {"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": APP, "Timestamp": START_MS, "User": "u"}
    for job in range(JOBS):
        yield {"Event": "SparkListenerJobStart", "Job ID": job, "Submission Time": START_MS + job, "Stage IDs": [job]}
        info = {"Stage ID": job, "Stage Attempt ID": 0, "Stage Name": f"n{job}", "Number of Tasks": 1, "RDD Info": []}
        info["Details"] = 'a line that ends\n\tand "quotes" \\ in it'
        info["Submission Time"] = START_MS + job
        yield {"Event": "SparkListenerStageSubmitted", "Stage Info": info, "Properties": {}}
    for task in range(TASKS):
        head = {"Stage ID": 7, "Stage Attempt ID": 0}
        info = {"Task ID": task, "Index": task, "Attempt": 0, "Executor ID": "1", "Host": "h", "Locality": "ANY"}
        info["Launch Time"] = START_MS + task
        yield {"Event": "SparkListenerTaskStart", **head, "Task Info": info}
        if task % 10 == 3:
            continue
        info = dict(info, **{"Finish Time": START_MS + task * 2 + 1, "Failed": task % 10 == 5})
        reason = {"Reason": "Success" if task % 10 != 5 else "TaskResultLost"}
        event = {"Event": "SparkListenerTaskEnd", **head, "Task Type": "ResultTask", "Task End Reason": reason}
        yield {**event, "Task Info": info, "Task Metrics": {"Executor Run Time": task}}
    yield {"Event": "SparkListenerApplicationEnd", "Timestamp": START_MS + 10**6}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("long")
    text = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events())
    (folder / APP).write_text(text, encoding="ascii")
    with Server(folder) as running:
        yield running


def get(server: Server, path: str) -> bytes:
    status, kind, body = server.get(f"applications/{APP}/{path}")
    assert status == 200 and kind == "application/json"
    return body


def test_a_long_list_is_its_pages(server: Server) -> None:
    """Short pages are answered in another way than the whole."""
    for order in ("ID", "-runtime"):
        whole = json.loads(get(server, f"stages/7/0/taskList?length=100000&sortBy={order}"))
        pages: List[Any] = []
        while len(pages) < len(whole):
            page = get(server, f"stages/7/0/taskList?offset={len(pages)}&length=250&sortBy={order}")
            assert len(page) < LONG
            pages += json.loads(page)
        assert len(whole) == TASKS and pages == whole


def test_a_stage_with_its_tasks(server: Server) -> None:
    text = get(server, "stages/7/0")
    assert len(text) > LONG
    stage = json.loads(text)
    listed = json.loads(get(server, "stages/7/0/taskList?length=100000"))
    assert list(stage["tasks"].values()) == listed and list(stage["tasks"]) == [str(one["taskId"]) for one in listed]
    assert json.loads(get(server, "stages/7")) == [stage]
    running = json.loads(get(server, "stages/7/0?taskStatus=RUNNING"))["tasks"]
    assert list(running.values()) == [one for one in listed if one["status"] == "RUNNING"]
    short = json.loads(get(server, "stages/7/0?details=false"))
    assert "tasks" not in short and {**stage, **short} == stage


def test_all_stages_and_jobs(server: Server) -> None:
    text = get(server, "stages")
    assert len(text) > LONG
    stages = json.loads(text)
    assert [one["stageId"] for one in stages] == list(reversed(range(JOBS)))
    for one in stages[:: JOBS // 5]:
        assert json.loads(get(server, f"stages/{one['stageId']}/0?details=false")) == one
    jobs = json.loads(get(server, "jobs"))
    assert [one["jobId"] for one in jobs] == list(reversed(range(JOBS)))
    for one in jobs[:: JOBS // 5]:
        assert json.loads(get(server, f"jobs/{one['jobId']}")) == one


def raw(server: Server, method: str, path: str, headers: Dict[str, str]) -> Tuple[http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    try:
        connection.request(method, f"/api/v1/applications/{APP}/{path}", headers=headers)
        response = connection.getresponse()
        assert response.status == 200
        return response.headers, response.read()
    finally:
        connection.close()


def test_compressed(server: Server) -> None:
    for path in ("stages", "jobs", "stages/7/0", "stages/7/0/taskList?length=100000"):
        headers, body = raw(server, "GET", path, {"Accept-Encoding": "gzip"})
        assert headers["Content-Encoding"] == "gzip" and "Accept-Encoding" in headers["Vary"]
        assert gzip.decompress(body) == get(server, path) and len(body) < LONG
        headers, body = raw(server, "GET", path, {"Accept-Encoding": "identity"})
        assert "Content-Encoding" not in headers and "Accept-Encoding" in headers["Vary"]


def test_head_has_no_body(server: Server) -> None:
    headers, body = raw(server, "HEAD", "stages", {})
    assert headers["Content-Type"] == "application/json" and body == b""


def test_clients_that_go_away(server: Server) -> None:
    """More of them than answers are sent at once: their threads and memory come back."""
    for _ in range(300):
        with socket.create_connection((server.host, server.port), timeout=30) as client:
            client.sendall(f"GET /api/v1/applications/{APP}/stages/7/0 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
    assert len(get(server, "stages/7/0")) > LONG


def test_many_at_once(server: Server) -> None:
    expected = {path: get(server, path) for path in ("stages", "stages/7/0", "jobs")}
    wrong: List[str] = []

    def ask(path: str) -> None:
        for _ in range(5):
            if get(server, path) != expected[path]:
                wrong.append(path)

    threads = [threading.Thread(target=ask, args=(path,)) for path in expected for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
