"""What one reader can ask for has an end: queries, predictions, answers, memory. Nothing here measures time."""

from __future__ import annotations

import json
import re
import select
import shutil
import signal
import socket
import threading
from http.client import HTTPConnection
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import conftest
import pytest
from servers.pyrometer import Server

APP = "data_skew"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
BUSY = "the server is busy with the maximum number of statements: try again later"


needs_own_memory = pytest.mark.skipif(conftest.SANITIZERS, reason="sanitizers keep what was freed, and shadow all of it")


@pytest.fixture(name="folder", scope="module")
def make_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bounded")
    shutil.copy(conftest.ROOT / "corpus" / "logs" / "data_skew.zst", folder / "app.zst")
    return folder


@pytest.fixture(name="server", scope="module")
def run_server(folder: Path) -> Iterator[Server]:
    with Server(folder, "--query-timeout", "1s", "--memory", "64M") as running:
        yield running


def post(server: Server, statement: str) -> HTTPConnection:
    """Sends a query, without waiting for the answer."""
    application = json.loads(server.request("GET", "/pyrometer/v1/applications")[2])["applications"][0]["id"]
    call = {"name": "query", "arguments": {"app": application, "statement": statement}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    connection = HTTPConnection(server.host, server.port, timeout=60)
    connection.request("POST", "/mcp", body, {"Content-Type": "application/json"})
    return connection


def answer(connection: HTTPConnection) -> Tuple[bool, str]:
    """Whether the tool failed, and what it says."""
    response = connection.getresponse()
    document = json.loads(response.read())
    connection.close()
    assert response.status == 200
    return document["result"]["isError"], document["result"]["content"][0]["text"]


def metrics(server: Server) -> Dict[str, int]:
    found = [(re.fullmatch(r'pyrometer_requests_(\w+)\{class="(\w+)"\}', name), value) for name, value in server.metrics().items()]
    return {f"{match[2]} {match[1]}": int(value) for match, value in found if match}


def wait_until(server: Server, **wanted: int) -> None:
    """Asks for the metrics until they say so: heavy_running=0."""
    names = {name.replace("_", " ", 1): number for name, number in wanted.items()}
    moment = threading.Event()
    for _ in range(600):
        now = metrics(server)
        if all(now[name] == number for name, number in names.items()):
            return
        moment.wait(0.05)
    raise AssertionError(f"{metrics(server)}, not {names}")


@pytest.mark.parametrize(
    "statement, words",
    [
        (ENDLESS, "this took longer than allowed and was stopped"),
        ("SELECT length(printf('%.*c', 900000000, 'x'))", "a value may have at most 16 MiB"),
        ("SELECT length(zeroblob(900000000))", "a value may have at most 16 MiB"),
        ("SELECT fts3_tokenizer('simple')", "not authorized to use function: fts3_tokenizer"),
        ("SELECT load_extension('x')", "not authorized to use function: load_extension"),
        ("SELECT printf('%.*c',16000000,'a') LIKE '%' || printf('%.*c',900,'a') || 'b%'", "longer than allowed"),
    ],
    ids=["endless", "printf", "zeroblob", "fts3", "load", "like"],
)
def test_a_query_ends(server: Server, statement: str, words: str) -> None:
    failed, text = answer(post(server, statement))
    assert failed and words in text
    assert answer(post(server, "SELECT count(*) AS n FROM tasks"))[1].startswith("n\r\n")


@pytest.mark.parametrize(
    "statement, words",
    [
        (
            "SELECT printf('%.*c', 6000000, 'x') AS a FROM tasks LIMIT 5",
            "the answer is longer than 16 MiB: ask for a smaller part",
        ),
        (
            "SELECT " + ", ".join(["printf('%.*c', 16000000, 'x')"] * 200),
            "the statement needs more memory than it may use",
        ),
    ],
    ids=["answer", "columns"],
)
def test_a_query_that_wants_too_much_ends(folder: Path, statement: str, words: str) -> None:
    """With time enough, so that what ends it is its size."""
    with Server(folder, "--query-timeout", "10m", "--memory", "64M") as patient:
        failed, text = answer(post(patient, statement))
        assert failed and words in text


def test_a_hundred_and_thirty_queries_stop_nobody(folder: Path) -> None:
    with Server(folder, "--query-timeout", "1h") as server:
        asked = [post(server, ENDLESS) for _ in range(130)]
        wait_until(server, query_running=2)
        for path in ("/api/v1/version", "/api/v1/applications", "/metrics", "/pyrometer/v1/version", "/"):
            assert server.request("GET", path)[0] == 200
        answers: List[Tuple[bool, str]] = []
        rest = {connection.sock: connection for connection in asked}
        while len(answers) < 128:  # all but the two that run
            for sock in select.select(list(rest), [], [], 60)[0]:
                answers.append(answer(rest.pop(sock)))
        assert answers == [(True, BUSY)] * 128
        assert metrics(server)["query refused_total"] == 128
        # The clients go, and their queries with them; the next ones run.
        for connection in asked:
            connection.close()
        wait_until(server, query_running=0, heavy_running=0, heavy_waiting=0)
        assert not answer(post(server, "SELECT 1"))[0]


def test_a_client_that_hangs_up_ends_its_query_while_all_are_busy(folder: Path) -> None:
    with Server(folder, "--query-timeout", "1h", "--queries", "4") as server:
        asked = [post(server, ENDLESS) for _ in range(4)]
        wait_until(server, query_running=4)
        waiting = post(server, "SELECT 1")
        asked[2].close()
        assert not answer(waiting)[0]  # it found the place that was given up
        wait_until(server, query_running=3)
        asked[0].sock.shutdown(socket.SHUT_WR)  # closed permanently, as far as is known
        wait_until(server, query_running=2)
        for connection in asked:
            connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_ends_by_itself_whatever_runs(folder: Path, number: int) -> None:
    with Server(folder, "--query-timeout", "1h") as server:
        asked = [post(server, ENDLESS) for _ in range(2)]
        wait_until(server, query_running=2)
        assert server.stop(number) == 0
        for connection in asked:
            connection.close()


def resident(server: Server) -> int:
    text = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", text).group(1)) << 10  # type: ignore[union-attr]


def write_log(path: Path, tasks: int) -> None:
    """An application whose tables take some 200 bytes a task, and its history as much again."""
    start = 1700000000000
    head = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": path.name, "App ID": path.name, "Timestamp": start, "User": "u"},
        {"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": start, "Stage IDs": [0]},
    ]  # fmt: skip
    with path.open("w", encoding="ascii") as file:
        for event in head:
            file.write(json.dumps(event, separators=(",", ":")) + "\n")
        for task in range(tasks):
            file.write(
                '{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask",'
                '"Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":%d,"Index":%d,"Attempt":0,'
                '"Launch Time":%d,"Executor ID":"%d","Host":"h%d","Locality":"ANY","Finish Time":%d},'
                '"Task Metrics":{"Executor Run Time":%d}}\n'
                % (task, task, start + task, task, task, start + task + 5, task % 977)
            )
        file.write(json.dumps({"Event": "SparkListenerApplicationEnd", "Timestamp": start + 10**7}) + "\n")


@needs_own_memory
def test_the_process_stays_below_its_memory(tmp_path: Path) -> None:
    """Queries, answers and applications together: --memory and 256 MiB, which docs/serve.md promises."""
    for number in range(4):
        write_log(tmp_path / f"app-20240101000000-000{number}", 60000)
    greedy = [
        "SELECT " + ", ".join(["printf('%.*c', 16000000, 'x')"] * 200),
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 400000) "
        "SELECT max(length(y)) FROM (SELECT group_concat(hex(randomblob(20))) OVER (ORDER BY x) AS y FROM c)",
        "SELECT * FROM tasks",
    ]
    with Server(tmp_path, "--memory", "32M", "--query-timeout", "2s") as server:
        asked = [post(server, statement) for statement in greedy]
        paths = ["stages?details=true", "executors", "stages/0/0/taskList?length=100000", "environment"]
        for number in range(4):
            for path in paths:
                status = server.get(f"applications/app-20240101000000-000{number}/{path}")[0]
                assert status in (200, 404, 503)
            status = server.request("GET", f"/pyrometer/v1/applications/app-20240101000000-000{number}/-/timeline")[0]
            assert status in (200, 503)
        for connection in asked:
            assert connection.getresponse().status == 200
            connection.close()
        if not any("sanitize" in line for line in features()):
            assert resident(server) < (32 + 256) << 20
        assert server.get("version")[0] == 200


def features() -> List[str]:
    """Sanitizers take several times the memory."""
    return [conftest.binary_path().parent.name.replace("asan", "sanitize")]


@needs_own_memory
def test_an_application_that_is_too_large_is_refused(tmp_path: Path) -> None:
    write_log(tmp_path / "app-20240101000000-0001", 10)
    log = tmp_path / "app-20240101000000-0002"
    write_log(log, 1)
    lines = log.read_text(encoding="ascii").splitlines(keepends=True)
    text = "x" * (25 << 20)
    lines[2:2] = [
        json.dumps({"Event": "SparkListenerJobStart", "Job ID": n, "Submission Time": 1, "Stage IDs": [],
                    "Properties": {"spark.job.description": f"{n}{text}"}}) + "\n"
        for n in range(10)
    ]  # fmt: skip
    log.write_text("".join(lines), encoding="ascii")
    with Server(tmp_path, "--memory", "16M") as server:
        status, _, body = server.request("GET", f"/pyrometer/v1/applications/{log.name}/-/report")
        assert status == 503 and "needs more memory" in json.loads(body)["error"]["message"]
        assert server.request("GET", "/pyrometer/v1/applications/app-20240101000000-0001/-/report")[0] == 200
        if not any("sanitize" in line for line in features()):
            assert resident(server) < (16 + 256) << 20


def test_classes_are_counted(server: Server) -> None:
    server.request("GET", "/pyrometer/v1/applications")
    counts = metrics(server)
    assert counts["light running"] == 1  # this one
    for kind in ("heavy", "query"):
        for name in ("running", "waiting", "refused_total", "stopped_total"):
            assert f"{kind} {name}" in counts
