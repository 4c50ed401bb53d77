"""Servers that behave badly, and files from servers: clear errors, exit status 3, and never an unlimited wait."""

from __future__ import annotations

import base64
import gzip
import http.server
import io
import json
import signal
import ssl
import subprocess
import threading
import time
import zipfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

import conftest
import pytest
from servers.local import LocalServer

APP = "app-1"
APPLICATION = {
    "id": APP,
    "name": "bad",
    "attempts": [{"startTime": "2026-01-01T00:00:00.000GMT", "endTime": "2026-01-01T00:01:00.000GMT", "completed": True}],
}
Handler = http.server.BaseHTTPRequestHandler
Answer = Callable[[Handler], None]


def send(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(status)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"Content-Length": str(len(body)), **names}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def send_json(value: Any) -> Answer:
    return send(json.dumps(value, indent=2).encode(), Content_Type="application/json")


class Site(LocalServer):
    """Answers by path; what is not known is 404. Remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: Dict[str, List[Answer]] = {}
        self.asked: List[Tuple[str, Dict[str, str]]] = []
        self.stopping = threading.Event()
        site = self

        class Asked(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.split("?")[0]
                site.asked.append((self.path, dict(self.headers)))
                answers = site.answers.get(path) or [send(b"nothing here", 404)]
                try:
                    (answers.pop(0) if len(answers) > 1 else answers[0])(self)
                except OSError:
                    pass

            def log_message(self, format: str, *values: Any) -> None:
                pass

        self.listen(Asked)

    def close(self) -> None:
        self.stopping.set()
        super().close()

    def put(self, path: str, *answers: Answer) -> str:
        self.answers[path] = list(answers)
        return self.url + path

    def application(self, *logs: Answer) -> str:
        """A History Server with one application, whose log has this answer."""
        self.put("/api/v1/applications", send_json([APPLICATION]))
        self.put(f"/api/v1/applications/{APP}", send_json(APPLICATION))
        self.put(f"/api/v1/applications/{APP}/logs", *logs)
        return f"{self.url}/history/{APP}/jobs/"

    def rest(self, **pages: Any) -> str:
        """The same, with REST answers only."""
        address = self.application(send(b"no", 404))
        for page in ("allexecutors", "jobs", "stages", "sql", "storage/rdd"):
            self.put(f"/api/v1/applications/{APP}/{page}", send_json([]))
        for page, value in pages.items():
            self.put(f"/api/v1/applications/{APP}/{page}", value if callable(value) else send_json(value))
        return address


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


def run(*arguments: str, env: Dict[str, str] = {}, limit_s: float = 30) -> conftest.Run:
    settings = {"HOME": "/nonexistent", **env}
    command = ["env", *(f"{key}={value}" for key, value in settings.items()), str(conftest.binary_path())]
    return conftest.run_command([*command, *arguments], limit_s=limit_s)


def refused(url: str, *arguments: str, env: Dict[str, str] = {}) -> str:
    done = run("diagnose", url, *arguments, env=env)
    assert done.exit == 3, done.explain()
    assert done.out == b""
    assert done.err.count(b"\n") == 1 and done.err.startswith(b"pyrometer: cannot read http"), done.err
    return done.err.decode()


@pytest.fixture(scope="module")
def zipped(small_log: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(small_log, small_log.name)
    return packed.getvalue()


def test_files(site: Site, small_log: Path, zipped: bytes) -> None:
    text = small_log.read_bytes()
    expected = run("diagnose", "--format", "json", str(small_log)).json
    for name, body in (("plain", text), ("log.gz", gzip.compress(text)), ("log.zip", zipped)):
        url = site.put(f"/logs/{name}", send(body))
        done = run("diagnose", "--format", "json", url + "?signature=secret-value")
        assert done.exit == 0, done.explain()
        assert b"secret-value" not in done.out
        assert done.json["totals"] == expected["totals"] and done.json["stages"] == expected["stages"]
        assert done.json["integrity"]["source"] == {"kind": "log", "url": url}


def test_a_log_behind_redirections_and_busy_answers(site: Site, zipped: bytes) -> None:
    def cut(handler: Handler) -> None:
        send(zipped[:1000], Content_Length=str(len(zipped)))(handler)
        handler.close_connection = True

    address = site.application(
        send(b"busy", 503),
        send(b"", 302, Location=f"{site.url}/elsewhere"),
    )
    site.put("/elsewhere", cut, send(zipped))
    site.answers[f"/api/v1/applications/{APP}/logs"].append(send(b"", 302, Location=f"{site.url}/elsewhere"))
    done = run("diagnose", "--format", "json", address)
    assert done.exit == 0, done.explain()
    assert done.json["integrity"]["source"]["kind"] == "log"


def test_nothing_there(site: Site) -> None:
    assert "404" in refused(f"{site.url}/history/{APP}")
    assert "404" in refused(f"{site.url}/logs/none?a=1")
    assert "404" in refused(site.url)
    site.put("/api/v1/applications", send_json([]))
    assert "no application yet" in refused(site.url)


def test_redirections_lead_nowhere_else(site: Site, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}\n')
    url = site.put("/log", send(b"", 302, Location=f"file://{secret}"))
    assert "redirects to an address that is neither http" in refused(url + "?x=1")
    loop = site.put("/loop", send(b"", 302, Location=f"{site.url}/loop"))
    assert "redirections" in refused(loop + "?x=1")


def test_too_long(site: Site) -> None:
    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not site.stopping.is_set():
            handler.wfile.write(b"{}\n" * 20000)

    url = site.put("/endless", endless)
    assert "--max-download" in refused(url + "?x=1", "--max-download", "1M")
    huge = site.put("/huge", send(b"x", Content_Length=str(1 << 50)))
    began = time.monotonic()
    assert "--max-download" in refused(huge + "?x=1")
    assert time.monotonic() - began < 20


def without_end(site: Site, piece: bytes, pause_s: float = 0, status: int = 200, header: bool = False) -> Answer:
    """A body, or a header, that goes on until the test ends."""

    def answer(handler: Handler) -> None:
        handler.send_response(status)
        (handler.flush_headers if header else handler.end_headers)()
        while not site.stopping.wait(pause_s):
            handler.wfile.write(piece)
            handler.wfile.flush()

    return answer


@pytest.mark.parametrize("status", [404, 500, 503])
def test_answers_of_other_statuses_end(site: Site, status: int) -> None:
    """Enough of an endless body is read to say what the server says."""
    url = site.put("/endless", without_end(site, b"sorry " * 10000, status=status))
    assert f"the server answers {status}" in refused(url + "?x=1") and len(site.asked) <= 3


def test_headers_end(site: Site) -> None:
    url = site.put("/endless", without_end(site, b"X-More: " + b"x" * 1000 + b"\r\n", header=True))
    assert "header of the answer is larger" in refused(url + "?x=1")


@pytest.mark.parametrize("status", [200, 404])
def test_drips_end(site: Site, status: int) -> None:
    """400 bytes a second are more than nothing, and less than any server sends."""
    url = site.put("/dripping", without_end(site, b"{" * 40, 0.1, status))
    assert "too slow" in refused(url + "?x=1", "--timeout", "1")  # as the library says it, or curl


def test_a_crawl_ends(site: Site, tmp_path: Path) -> None:
    lists = {"endless": without_end(site, b"no " * 10000, status=500), "dripping": without_end(site, b"{" * 40, 0.1, 404)}
    for name, answer in lists.items():
        site.put("/api/v1/applications", answer)
        done = run("crawl", site.url, "--once", "--timeout", "1", "--store", f"sqlite:{tmp_path}/{name}.db")
        assert done.exit == 3 and not done.timed_out, done.explain()


def test_silence(site: Site) -> None:
    def silent(handler: Handler) -> None:
        site.stopping.wait(20)

    def dripping(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not site.stopping.wait(0.5):
            handler.wfile.write(b"{")
            handler.wfile.flush()

    for name, answer in (("silent", silent), ("dripping", dripping)):
        assert "in time" in refused(site.put(f"/{name}", answer) + "?x=1", "--timeout", "2")


def test_bodies_that_are_no_log(site: Site, small_log: Path, zipped: bytes) -> None:
    page = site.put("/page", send(b"<html>hello</html>", Content_Type="text/html"))
    assert "web page" in refused(page + "?x=1")
    packed = gzip.compress(small_log.read_bytes())
    half = run("diagnose", "--format", "json", site.application(send(packed[: len(packed) // 2])), "--remote", "log")
    assert half.exit == 0, half.explain()  # as far as it goes, as a file
    assert half.json["integrity"]["truncated"] and half.json["integrity"]["confidence"] < 1
    cut = run("diagnose", "--format", "json", site.application(send(zipped[: len(zipped) // 2])), "--remote", "log")
    assert cut.exit == 0 and cut.json["integrity"]["truncated"], cut.explain()
    assert "zip archive" in refused(site.application(send(b"PK\x03\x04" + b"broken" * 99)), "--remote", "log")
    assert "does not provide the log" in refused(site.application(send(b"PK\x05\x06" + b"\0" * 18)), "--remote", "log")
    assert "500" in refused(site.application(send(b"it fell over", 500)), "--remote", "log")
    assert "it fell over" in refused(site.application(send(b"it fell over", 500)), "--remote", "log")


def test_a_bomb(site: Site) -> None:
    line = b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}\n'
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as out:
        out.write(line)
        for _ in range(400):
            out.write(b" " * (1 << 20))
    assert "decompresses to more than" in refused(site.put("/bomb.gz", send(packed.getvalue())) + "?x=1")


def test_a_bomb_in_parts(site: Site) -> None:
    """What one part may not do, many may not do together."""
    line = b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}\n'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(1, 21):
            archive.writestr(f"eventlog_v2_{APP}/events_{number}_{APP}", line + b" " * (20 << 20))
    assert len(packed.getvalue()) < 1 << 20
    assert "decompresses to more than" in refused(site.application(send(packed.getvalue())), "--remote", "log")


@pytest.mark.parametrize(
    "pages",
    [
        {"stages": send(b"[", Content_Type="application/json")},
        {"stages": send(b'{"a":' * 5000)},
        {"stages": send(b"\xff\xfe\x00")},
        {"jobs": send(b"<html></html>", Content_Type="text/html")},
        {"jobs": send(b"no", 500)},
        {"allexecutors": send_json({"id": 1})},
        {"stages": send_json([{"stageId": 1, "attemptId": 0, "status": "COMPLETE", "submissionTime": "2026-01-01T00:00:00.000GMT"}])},
    ],
)
def test_rest_answers_that_are_none(site: Site, pages: Dict[str, Answer]) -> None:
    assert "the server" in refused(site.rest(**pages))


def test_rest_answers_without_sense(site: Site) -> None:
    """Numbers beyond sense, circles and strange texts are read for what they are worth."""
    stage = {
        "stageId": 1,
        "attemptId": 0,
        "status": "COMPLETE",
        "numTasks": 2**40,
        "submissionTime": "2026-01-01T00:00:10.000GMT",
        "completionTime": "1969-12-31T23:59:59.999GMT",
        "name": 'a "name"\nwith \u0000 and \\',
    }
    task = {"taskId": 5, "launchTime": "2026-01-01T00:00:11.000GMT", "duration": 2**62, "status": "FAILED"}
    task["errorMessage"] = 'x:\\"\n\tat y\\'
    execution = {
        "id": 0,
        "status": "FAILED",
        "submissionTime": "never",
        "planDescription": "== Physical Plan ==\nA (1)\n\n\n(1) A\nArguments: \\",
        "nodes": [{"nodeId": n, "nodeName": "A", "metrics": [{"name": "m", "value": "9" * 400}]} for n in range(2000)],
        "edges": [{"fromId": (n + 1) % 2000, "toId": n} for n in range(2000)],
    }
    url = site.rest(stages=[stage], sql=[execution], jobs=[{"jobId": 7, "stageIds": [1] * 1000, "status": "FAILED"}])
    site.put(f"/api/v1/applications/{APP}/stages/1/0/taskList", send_json([task]))
    done = run("diagnose", "--format", "json", url)
    assert done.exit == 0, done.explain()
    assert done.json["integrity"]["bad_lines"] == 0
    assert done.json["totals"]["tasks"] == 1 and done.json["totals"]["sql_executions"] == 1
    assert done.json["integrity"]["confidence"] < 0.9
    assert any("has already dropped data" in note for note in done.json["integrity"]["notes"])


def test_many_tasks(site: Site) -> None:
    """100,000 tasks come in pages; memory stays what a log of them takes."""
    count = 100000
    stage = {
        "stageId": 0,
        "attemptId": 0,
        "status": "COMPLETE",
        "numTasks": count,
        "numCompleteTasks": count,
        "submissionTime": "2026-01-01T00:00:10.000GMT",
        "completionTime": "2026-01-01T00:00:50.000GMT",
        "name": "count",
    }

    def tasks(handler: Handler) -> None:
        query = dict(part.split("=") for part in handler.path.split("?")[1].split("&"))
        first = int(query["offset"])
        last = min(count, first + int(query["length"]))
        row = '{"taskId":%d,"index":%d,"attempt":0,"launchTime":"2026-01-01T00:00:11.000GMT","duration":5,"executorId":"1",'
        row += '"host":"h","status":"SUCCESS","taskMetrics":{"executorRunTime":3}}'
        send(("[" + ",".join(row % (n, n) for n in range(first, last)) + "]").encode())(handler)

    url = site.rest(stages=[stage])
    site.put(f"/api/v1/applications/{APP}/stages/0/0/taskList", tasks)
    done = run("diagnose", "--format", "json", url)
    assert done.exit == 0, done.explain()
    assert done.json["totals"]["tasks"] == count and done.json["totals"]["run_ms"] == 3 * count
    kept = 70 if conftest.SANITIZERS else 40  # sanitizers keep what was freed, and their command is larger
    assert done.rss_bytes < (64 << 20) + 200 * count + (kept << 20)


def test_names_and_passwords(site: Site, small_log: Path, tmp_path: Path) -> None:
    def guarded(handler: Handler) -> None:
        given = handler.headers.get("Authorization", "")
        wanted = ("Basic " + base64.b64encode(b"ann:s3cret").decode(), "Bearer t0ken")
        (send(small_log.read_bytes()) if given in wanted else send(b"who are you", 401))(handler)

    url = site.put("/guarded", guarded) + "?x=1"
    other = Site()
    try:
        leak = other.put("/leak", send(small_log.read_bytes()))
        away = site.put("/away", send(b"", 302, Location=leak.replace("127.0.0.1", "localhost"))) + "?x=1"
        assert "PYROMETER_HTTP_USER" in refused(url)
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ann password s3cret\n")
        for env in (
            {"PYROMETER_HTTP_USER": "ann:s3cret"},
            {"PYROMETER_HTTP_TOKEN": "t0ken"},
            {"HOME": str(tmp_path)},
        ):
            done = run("diagnose", "--format", "json", url, env=env)
            assert done.exit == 0, done.explain()
            assert b"s3cret" not in done.out + done.err and b"t0ken" not in done.out + done.err
            assert run("diagnose", away, env=env).exit == 0
        assert [headers.get("Authorization") for _, headers in other.asked] == [None, None, None]
        inside = url.replace("http://", "http://ann:s3cret@")
        done = run("diagnose", "--format", "json", inside)
        assert done.exit == 0 and b"s3cret" not in done.out
        wrong = refused(url.replace("http://", "http://ann:wr0ng@"))
        assert "wr0ng" not in wrong
    finally:
        other.close()


def test_certificates(site: Site, small_log: Path, tmp_path: Path) -> None:
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, stderr=subprocess.PIPE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site.server.socket = context.wrap_socket(site.server.socket, server_side=True)
    url = site.put("/log", send(small_log.read_bytes())).replace("http:", "https:") + "?x=1"
    unset = {"CURL_CA_BUNDLE": "", "SSL_CERT_FILE": ""}
    for env in (unset, {"CURL_CA_BUNDLE": str(tmp_path / "none"), "SSL_CERT_FILE": str(certificate)}):
        assert "certificate of the server is not trusted" in refused(url, env=env)
    for variable in unset:
        assert run("diagnose", url, env={**unset, variable: str(certificate)}).exit == 0


def test_an_interrupt_ends_a_download(site: Site) -> None:
    asked = threading.Event()

    def silent(handler: Handler) -> None:
        asked.set()
        site.stopping.wait(30)

    url = site.put("/silent", silent) + "?x=1"
    process = subprocess.Popen(
        [str(conftest.binary_path()), "diagnose", url], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert asked.wait(20)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
