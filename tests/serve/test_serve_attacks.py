"""The usual attacks, on the real server: none gets what it wants, and the server answers others meanwhile."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

import cramjam
import pytest
from servers.pyrometer import Server

import conftest

LOG = conftest.ROOT / "corpus" / "logs" / "healthy_sql.zst"
Answer = Tuple[int, Dict[str, str], bytes]


def ask(server: Server, method: str, path: str, headers: Optional[Dict[str, str]] = None, body: Any = None) -> Answer:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        return response.status, {key.lower(): value for key, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def raw(server: Server, data: bytes, wait_s: float = 5) -> bytes:
    """What comes back until the server closes or nothing more comes."""
    with socket.create_connection((server.host, server.port), timeout=wait_s) as connection:
        got = b""
        try:
            connection.sendall(data)
            while piece := connection.recv(65536):
                got += piece
        except OSError:
            pass
        return got


def lives(server: Server) -> None:
    assert ask(server, "GET", "/api/v1/version")[0] == 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("logs")
    shutil.copy(LOG, made / LOG.name)
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with Server(folder, "--max-upload", "1M", "--no-cache") as running:
        yield running


# ---- What is asked for ----


@pytest.mark.parametrize("path", [
    "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "/api/v1/applications/..%2f..%2fetc/logs",
    "/api/v1/applications/%2e%2e/logs", "/assets/..%2f..%2fetc/passwd", "/api/v1/applications/%00/jobs", "//etc/passwd",
    "/api/v1/applications/..\\..\\etc/environment"])
def test_traversal(server: Server, path: str) -> None:
    status, _, body = ask(server, "GET", path)
    assert b"root:" not in body
    # A path of no file may be one of the web page, which is the same for all.
    assert status in (404, 400) or body.lower().startswith(b"<!doctype html")


def test_headers_of_every_answer(server: Server) -> None:
    for path in ("/api/v1/version", "/api/v1/applications/none", "/pyrometer/v1/applications", "/nothing"):
        headers = ask(server, "GET", path)[1]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers


def test_compressed_answers_are_the_same(server: Server) -> None:
    plain = ask(server, "GET", "/api/v1/applications")
    app = json.loads(plain[2])[0]["id"]
    path = f"/api/v1/applications/{app}/environment"
    whole, packed = ask(server, "GET", path), ask(server, "GET", path, {"Accept-Encoding": "br, gzip"})
    assert packed[1]["content-encoding"] == "gzip" and len(packed[2]) < len(whole[2])
    assert bytes(cramjam.gzip.decompress(packed[2])) == whole[2]
    assert "content-encoding" not in ask(server, "GET", path, {"Accept-Encoding": "gzip;q=0"})[1]


# ---- Pages of others ----


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example"])
def test_dns_rebinding(server: Server, host: str) -> None:
    assert ask(server, "GET", "/api/v1/version", {"Host": host})[0] == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "[::1]:18080"])
def test_own_names(server: Server, host: str) -> None:
    assert ask(server, "GET", "/api/v1/version", {"Host": host})[0] == 200


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://localhost:1"}])
@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_csrf(server: Server, method: str, headers: Dict[str, str]) -> None:
    assert ask(server, method, "/mcp", headers, b"{}")[0] == 403


def test_forms_are_no_json(server: Server) -> None:
    own = {"Origin": f"http://{server.host}:{server.port}", "Content-Type": "text/plain"}
    assert ask(server, "POST", "/mcp", own, b"{}")[0] == 415


def test_allowed_names_and_origins(folder: Path) -> None:
    with Server(folder, "--no-cache", "--allow-host", "spark.example", "--allow-origin", "https://ui.example") as running:
        assert ask(running, "GET", "/api/v1/version", {"Host": "spark.example:80"})[0] == 200
        origin = {"Origin": "https://ui.example"}
        assert ask(running, "GET", "/api/v1/version", origin)[1]["access-control-allow-origin"] == "https://ui.example"
        assert ask(running, "OPTIONS", "/mcp", origin)[0] == 204
        assert "access-control-allow-origin" not in ask(running, "GET", "/api/v1/version", {"Origin": "https://x.example"})[1]


# ---- Floods ----


def test_header_floods(server: Server) -> None:
    huge = raw(server, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n")
    many = raw(server, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X%d: y\r\n" % i for i in range(20_000)) + b"\r\n")
    line = raw(server, b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n")
    assert all(re.match(rb"HTTP/1\.1 4\d\d|$", got) for got in (huge, many, line))
    lives(server)


@pytest.mark.parametrize("data", [
    b"\x16\x03\x01\x02\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 5000,
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n"])
def test_what_is_no_request(server: Server, data: bytes) -> None:
    assert not raw(server, data, 1).startswith(b"HTTP/1.1 200")
    lives(server)


def test_bodies_without_end(server: Server) -> None:
    """More than is taken is refused at its announcement, or cut."""
    path = "/pyrometer/v1/uploads?name=a"
    assert raw(server, b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n" % path.encode(), 3)[9:12] in (b"413", b"404", b"405")
    chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    got = raw(server, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 600)
    assert not got.startswith(b"HTTP/1.1 200")
    lives(server)


def test_pipelining(server: Server) -> None:
    one = b"GET /api/v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n"
    got = raw(server, one * 50 + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    assert got.count(b"HTTP/1.1 200 OK") == 51


def threads(server: Server) -> int:
    return int(re.search(r"Threads:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text())[1])  # type: ignore[index]


def test_many_connections(server: Server) -> None:
    """A thousand idle ones and as many half requests cost no thread, and others are answered meanwhile."""
    held: List[socket.socket] = []
    try:
        for number in range(1000):
            held.append(socket.create_connection((server.host, server.port), timeout=10))
            if number % 2:
                held[-1].sendall(b"GET /api/v1/version HTTP/1.1\r\nHost: local")
        began = threads(server)
        lives(server)
        assert threads(server) <= began + 1 < 64
    finally:
        for one in held:
            one.close()


def test_who_does_not_read(server: Server) -> None:
    app = json.loads(ask(server, "GET", "/api/v1/applications")[2])[0]["id"]
    request = f"GET /api/v1/applications/{app}/stages?details=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    held = [socket.create_connection((server.host, server.port), timeout=10) for _ in range(30)]
    for one in held:
        one.sendall(request * 5)
    lives(server)
    for one in held:
        one.close()
    lives(server)


# ---- Tokens ----


def add_token(file: Path, name: str, role: str = "view", *more: str) -> str:
    words = ["serve", "--add-token", name, "--role", role, "--tokens", str(file), *more]
    run = conftest.run_command([str(conftest.binary_path()), *words])
    assert run.exit == 0, run.err
    return run.out.decode().strip()


def bearer(token: str) -> Dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class Guarded:
    def __init__(self, folder: Path, file: Path, *options: str) -> None:
        self.file = file
        self.view, self.upload = add_token(file, "vera"), add_token(file, "ugo", "upload", "--groups", "ops,dev")
        self.admin = add_token(file, "ada", "admin")
        self.server = Server(folder, "--tokens", str(file), "--no-cache", *options)


@pytest.fixture(scope="module")
def guarded(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    made = Guarded(folder, tmp_path_factory.mktemp("tokens") / "tokens")
    with made.server:
        yield made


def test_the_file_holds_no_token(guarded: Guarded) -> None:
    text = guarded.file.read_text(encoding="utf-8")
    assert guarded.file.stat().st_mode & 0o777 == 0o600
    assert text.count("$argon2id$") == 3
    assert not any(token.split(".")[1] in text for token in (guarded.view, guarded.upload, guarded.admin))


def test_roles(guarded: Guarded) -> None:
    def status(method: str, path: str, token: Optional[str]) -> int:
        body = b"{}" if method == "POST" else None
        return ask(guarded.server, method, path, bearer(token) if token else {}, body)[0]

    for path in ("/api/v1/version", "/api/v1/applications", "/pyrometer/v1/version", "/metrics", "/nothing"):
        assert status("GET", path, None) == 401
        assert {status("GET", path, one) == 401 for one in (guarded.view, guarded.upload, guarded.admin)} == {False}
    for token, role in ((guarded.view, "view"), (guarded.upload, "upload"), (guarded.admin, "admin")):
        answer = ask(guarded.server, "GET", "/pyrometer/v1/version", bearer(token))
        assert json.loads(answer[2])["role"] == role
    upload = "/pyrometer/v1/uploads/none/1"
    assert status("DELETE", upload, None) == 401
    assert status("DELETE", upload, guarded.view) == 403
    assert status("DELETE", upload, guarded.upload) in (404, 405)
    assert status("POST", "/mcp", guarded.view) not in (401, 403)  # asks, and changes nothing


def test_login(guarded: Guarded) -> None:
    page = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded"}
    status, headers, _ = ask(guarded.server, "GET", "/", page)
    assert (status, headers["location"]) == (303, "/login")
    assert b"<form" in ask(guarded.server, "GET", "/login", page)[2]
    status, headers, _ = ask(guarded.server, "POST", "/login", page, f"token={guarded.view}")
    cookie = headers["set-cookie"]
    assert status == 303 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
    session = {"Cookie": "other=1; " + cookie.split(";")[0]}
    assert ask(guarded.server, "GET", "/api/v1/version", session)[0] == 200
    assert ask(guarded.server, "POST", "/mcp", {**session, "Origin": "http://evil.example"}, b"{}")[0] == 403
    assert ask(guarded.server, "POST", "/logout", session)[0] == 303
    assert ask(guarded.server, "GET", "/api/v1/version", session)[0] == 401
    assert ask(guarded.server, "GET", "/api/v1/version", {"Cookie": "pyrometer_session=" + "A" * 43})[0] == 401


def test_a_token_is_taken_away(folder: Path, tmp_path: Path) -> None:
    made = Guarded(folder, tmp_path / "tokens")
    with made.server as running:
        assert ask(running, "GET", "/api/v1/version", bearer(made.view))[0] == 200
        again = add_token(made.file, "vera")
        until = time.monotonic() + 20
        while ask(running, "GET", "/api/v1/version", bearer(made.view))[0] == 200 and time.monotonic() < until:
            time.sleep(0.1)
        assert ask(running, "GET", "/api/v1/version", bearer(made.view))[0] in (401, 429)
        assert ask(running, "GET", "/api/v1/version", bearer(again))[0] in (200, 429)


def test_guessing(folder: Path, tmp_path: Path) -> None:
    made = Guarded(folder, tmp_path / "tokens")
    with made.server as running:
        assert ask(running, "GET", "/api/v1/version", bearer(made.view))[0] == 200
        answers = [ask(running, "GET", "/api/v1/version", bearer(f"{name}.{i}")) for i in range(10) for name in ("vera", "nobody")]
        statuses = [status for status, _, _ in answers]
        assert statuses[0] == 401 and statuses[-1] == 429 and int(answers[-1][1]["retry-after"]) > 0
        assert ask(running, "GET", "/api/v1/version", bearer(made.view))[0] == 200  # who was right before is not held up


def write_log(folder: Path, name: str, user: str, properties: Dict[str, str]) -> None:
    events = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": name, "Timestamp": 1700000000000, "User": user},
        {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {}, "Spark Properties": properties,
         "Hadoop Properties": {}, "System Properties": {}, "Metrics Properties": {}, "Classpath Entries": {}},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 1700000009000}]
    (folder / name).write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")


def test_access_lists_that_are_still_to_come(tmp_path: Path) -> None:
    """A run whose environment is not written yet, or half of it, is its owner's, and afterwards whose its lists say."""
    logs = tmp_path / "logs"
    logs.mkdir()
    write_log(logs, "growing", "eve", {"spark.acls.enable": "true"})
    lines = (logs / "growing").read_text(encoding="utf-8").splitlines(keepends=True)
    (logs / "growing").unlink()
    log = logs / "growing.inprogress"
    log.write_text("".join(lines[:2]) + lines[2][:60], encoding="utf-8")
    made = Guarded(logs, tmp_path / "tokens")
    with made.server as running:
        eve = add_token(tmp_path / "tokens", "eve")

        def listed(token: str) -> int:
            return len(json.loads(ask(running, "GET", "/api/v1/applications", bearer(token))[2]))

        assert [listed(token) for token in (made.view, eve, made.admin)] == [0, 1, 1]
        log.write_text("".join(lines[:3]), encoding="utf-8")
        assert [listed(token) for token in (made.view, eve, made.admin)] == [0, 1, 1]


def test_access_lists(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    on = {"spark.acls.enable": "true"}
    write_log(logs, "open", "eve", {})
    write_log(logs, "owned", "vera", on)
    write_log(logs, "listed", "eve", {**on, "spark.ui.view.acls": "otto, vera"})
    write_log(logs, "grouped", "eve", {**on, "spark.ui.view.acls.groups": "x,ops"})
    write_log(logs, "everyone", "eve", {**on, "spark.admin.acls": "*"})
    write_log(logs, "closed", "eve", {"spark.acls.enable": "TRUE"})  # as Spark reads it: any case

    def seen(running: Server, token: str) -> List[str]:
        names = sorted(one["id"] for one in json.loads(ask(running, "GET", "/api/v1/applications", bearer(token))[2]))
        for name in ("open", "owned", "listed", "grouped", "everyone", "closed"):
            # "open" is for everybody: an answer about it and another one is also about that one
            for path in (
                f"/api/v1/applications/{name}/environment",
                f"/pyrometer/v1/applications/{name}/-/report",
                f"/pyrometer/v1/compare?before=open/-&after={name}/-",
            ):
                status = ask(running, "GET", path, bearer(token))[0]
                assert (status == 200) == (name in names and ("compare" not in path or "open" in names)), path
        mine = json.loads(ask(running, "GET", "/pyrometer/v1/applications", bearer(token))[2])
        assert sorted(one["id"] for one in mine["applications"]) == names
        question = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_applications"}}
        told = ask(running, "POST", "/mcp", {**bearer(token), "Content-Type": "application/json"}, json.dumps(question))[2]
        lines = json.loads(told)["result"]["content"][0]["text"].splitlines()[1:]
        assert sorted(line.split(" | ")[0] for line in lines) == names
        return names

    made = Guarded(logs, tmp_path / "tokens")
    with made.server as running:
        assert seen(running, made.view) == ["everyone", "listed", "open", "owned"]
        assert seen(running, made.upload) == ["everyone", "grouped", "open"]
        assert len(seen(running, made.admin)) == 6
    with Guarded(logs, tmp_path / "tokens", "--acls").server as running:
        assert seen(running, add_token(tmp_path / "tokens", "zoe")) == ["everyone"]


# ---- TLS, addresses, the end ----


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Tuple[Path, Path]:
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    made = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=made, check=True, capture_output=True)
    return made / "cert.pem", made / "key.pem"


def test_tls(folder: Path, certificate: Tuple[Path, Path]) -> None:
    cert, key = certificate
    with Server(folder, "--tls-cert", str(cert), "--tls-key", str(key), "--no-cache") as running:
        assert running.scheme == "https"
        for version, taken in (("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
            run = subprocess.run(
                ["openssl", "s_client", "-connect", f"{running.host}:{running.port}", version, "-cipher", "ALL@SECLEVEL=0"],
                input=b"", capture_output=True, timeout=20)
            assert (b"Verification" in run.stdout and b"Cipher is (NONE)" not in run.stdout) == taken
        context = ssl.create_default_context(cafile=str(cert))
        connection = http.client.HTTPSConnection(running.host, running.port, context=context, timeout=20)
        connection.request("GET", "/api/v1/applications")
        assert len(json.loads(connection.getresponse().read())) == 1
        connection.close()
        assert not raw(running, b"GET /api/v1/version HTTP/1.1\r\n\r\n", 2).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("options", [[], ["--tokens"], ["--tls-cert", "cert", "--tls-key", "key"]])
def test_nothing_is_exposed_by_accident(folder: Path, tmp_path: Path, options: List[str]) -> None:
    if options == ["--tokens"]:
        add_token(tmp_path / "tokens", "vera")
        options = ["--tokens", str(tmp_path / "tokens")]
    words = ["serve", str(folder), "--host", "0.0.0.0", "--port", "0", "--no-cache", *options]
    run = conftest.run_command([str(conftest.binary_path()), *words])
    assert run.exit == 2 and b"--insecure" in run.err and run.out == b""


def test_insecure_is_said(folder: Path) -> None:
    with Server(folder, "--host", "0.0.0.0", "--insecure", "--no-cache") as running:
        lives(running)


def test_others_may_not_write_tokens(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    add_token(file, "vera")
    file.chmod(0o666)
    run = conftest.run_command([str(conftest.binary_path()), "serve", str(folder), "--port", "0", "--tokens", str(file)])
    assert run.exit == 2 and b"chmod" in run.err


def test_ipv6(folder: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 here")
    with Server(folder, "--host", "::1", "--no-cache") as running:
        lives(running)


def test_a_graceful_end(folder: Path) -> None:
    """Clients that have asked are answered; connections that do nothing delay no other."""
    with Server(folder, "--no-cache") as running:
        app = json.loads(ask(running, "GET", "/api/v1/applications")[2])[0]["id"]
        idle = [socket.create_connection((running.host, running.port)) for _ in range(20)]
        answers: List[int] = []

        def work() -> None:
            answers.append(ask(running, "GET", f"/api/v1/applications/{app}/stages?details=true")[0])

        workers = [threading.Thread(target=work) for _ in range(8)]
        for one in workers:
            one.start()
        while not answers:
            time.sleep(0.01)
        assert running.stop(signal.SIGTERM) == 0
        for one in workers:
            one.join()
        for connection in idle:
            connection.close()
        assert 200 in answers
