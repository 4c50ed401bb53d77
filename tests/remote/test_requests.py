"""Requests of every method against servers that answer oddly: by the program tests/remote/http_send.c."""

from __future__ import annotations

import base64
import email.utils
import gzip
import http.server
import subprocess
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

import conftest
import pytest
from servers.local import LocalServer

Handler = http.server.BaseHTTPRequestHandler
Answer = Callable[[Handler], None]
NOW = 1767225600  # 2026-01-01T00:00:00Z, the clock of the servers here


class Asked(NamedTuple):
    method: str
    path: str
    headers: Dict[str, str]
    body: bytes


class Outcome(NamedTuple):
    status: int
    size: int
    retry_after_s: int
    date_ms: int
    html: bool
    questions: int
    body: bytes


def send(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response_only(status)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"Content-Length": str(len(body)), "Date": email.utils.formatdate(NOW, usegmt=True), **names}.items():
            if value:
                handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    return answer


def cut(handler: Handler) -> None:
    """Half of what was promised."""
    send(b"half", Content_Length="8")(handler)
    handler.close_connection = True


def drop(handler: Handler) -> None:
    """The request arrived; the answer never comes."""
    handler.close_connection = True


class Site(LocalServer):
    """Gives the answers in turn, the last one ever after; remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: List[Answer] = []
        self.asked: List[Asked] = []
        self.ending = threading.Event()
        site = self

        class Asks(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                site.asked.append(Asked(self.command, self.path, dict(self.headers), body))
                try:
                    (site.answers.pop(0) if len(site.answers) > 1 else site.answers[0])(self)
                except OSError:
                    pass

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, format: str, *values: Any) -> None:
                pass

        self.listen(Asks)

    def close(self) -> None:
        self.ending.set()
        super().close()

    def says(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked.clear()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


def run(method: str, url: str, *keys: str) -> Tuple[int, bytes]:
    program = conftest.binary_path().parent / "tests" / "remote" / "http_send"
    done = subprocess.run(
        [str(program), method, url, *keys], env={"HOME": "/nonexistent"}, stdout=subprocess.PIPE, timeout=60
    )
    return done.returncode, done.stdout


def ask(method: str, url: str, *keys: str) -> Outcome:
    code, out = run(method, url, *keys)
    assert code == 0, out
    line, body = out.split(b"\n", 1)
    status, size, retry, date, html, questions = map(int, line.split())
    return Outcome(status, size, retry, date, bool(html), questions, body)


def refusal(method: str, url: str, *keys: str) -> str:
    code, out = run(method, url, *keys)
    assert code == 1 and out.startswith(b"error "), out
    return out.decode()


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE"])
def test_methods_and_bodies(site: Site, method: str) -> None:
    site.says(send(b"done", 201))
    for key, body in (("", b""), ('body={"a":1}', b'{"a":1}'), ("long=3000000", b"x" * 3000000)):
        if key and method in ("GET", "HEAD"):
            break
        outcome = ask(method, site.url + "/index/_doc/1?x=1", "header=X-More: yes", *([key] if key else []))
        assert outcome.status == 201 and outcome.date_ms == 1000 * NOW and outcome.retry_after_s == -1
        assert outcome.body == (b"" if method == "HEAD" else b"done") and outcome.size == len(outcome.body)
        asked = site.asked.pop()
        assert asked.method == method and asked.path == "/index/_doc/1?x=1" and asked.headers["X-More"] == "yes"
        assert asked.body == body and "Expect" not in asked.headers
        assert asked.headers.get("Content-Type") == ("application/json" if body else None)
    assert site.asked == []


def test_one_client_for_many_requests(site: Site) -> None:
    site.says(send(b"done"))
    ask("PUT", site.url, "body=a\nb\n", "type=application/x-ndjson", "times=3", "repeatable=1")
    assert [asked.body for asked in site.asked] == [b"a\nb\n"] * 3
    assert site.asked[0].headers["Content-Type"] == "application/x-ndjson"


@pytest.mark.parametrize("status", [400, 401, 404, 409, 429, 500, 503])
def test_the_body_of_every_answer(site: Site, status: int) -> None:
    body = b'{"error":{"type":"version_conflict_engine_exception"}}' * 100
    site.says(send(body, status, Content_Type="application/json"))
    assert ask("PUT", site.url, "body={}")[:2] == (status, len(body))
    assert len(site.asked) == 1
    site.says(send(gzip.compress(body), status, Content_Encoding="gzip"))
    assert ask("POST", site.url, "body={}").body == body


def test_answers_too_long(site: Site) -> None:
    site.says(send(b"x" * 1000, 404))
    assert "larger than the limit of 999 bytes" in refusal("GET", site.url, "limit=999", "tries=3")
    assert ask("GET", site.url, "limit=1000").size == 1000
    site.says(send(gzip.compress(b"x" * 1000000), Content_Encoding="gzip"))
    assert "larger than the limit" in refusal("POST", site.url, "limit=999999")


def test_only_what_is_repeatable_is_sent_again(site: Site) -> None:
    for trouble in (send(b"busy", 503), send(b"busy", 429), cut, drop):
        site.says(trouble, trouble, send(b"done"))
        assert ask("POST", site.url, "tries=3", "body=1", "repeatable=1").body == b"done"
        assert [asked.body for asked in site.asked] == [b"1"] * 3
        site.says(trouble, send(b"done"))
        code, out = run("POST", site.url, "tries=3", "body=1")
        assert len(site.asked) == 1 and (b"busy" in out or (code == 1 and b"broke off" in out))
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        site.says(drop, send(b"done", 202))
        assert ask(method, site.url, "tries=2").status == 202
        assert len(site.asked) == 2
    site.says(send(b"no", 500), send(b"done"))
    assert ask("GET", site.url, "tries=3").status == 500


def test_a_kept_connection_that_the_server_closed(site: Site) -> None:
    """libcurl sends again on its own, which only repeatable requests allow."""

    def done_and_closed(handler: Handler) -> None:
        send(b"done")(handler)
        handler.close_connection = True  # without saying so

    site.says(done_and_closed)
    assert ask("POST", site.url, "body=1", "times=5").body == b"done"
    assert len(site.asked) == 5
    site.says(send(b"done"), drop, send(b"late"))
    assert "broke off" in refusal("POST", site.url, "body=1", "times=2")
    assert len(site.asked) == 2


def test_retry_after(site: Site) -> None:
    def date(seconds: int) -> str:
        return email.utils.formatdate(NOW + seconds, usegmt=True)

    for value, expected in (("7", 7), (date(90), 90), (date(-5), 0), ("soon", -1), ("9" * 30, -1), ("-1", -1), ("", -1)):
        site.says(send(b"", 429, Retry_After=value))
        assert ask("GET", site.url).retry_after_s == expected, value
    site.says(send(b"", 503, Retry_After="9", Date="yesterday"))
    assert ask("GET", site.url).date_ms == -1


def test_pauses_that_the_server_asks_for(site: Site) -> None:
    """Ten questions a second whether to stop, so they count the length of the pause."""
    site.says(send(b"", 503, Retry_After="2"), send(b"done"))
    outcome = ask("GET", site.url, "tries=2")
    assert outcome.body == b"done" and outcome.questions >= 20
    site.says(send(b"", 429, Retry_After=email.utils.formatdate(NOW + 2, usegmt=True)), send(b"done"))
    assert ask("GET", site.url, "tries=2").questions >= 20
    site.says(send(b"", 503, Retry_After="86400"), send(b"done"))
    assert refusal("GET", site.url, "tries=2", "stop=15") == "error 5 cancelled\n"
    assert len(site.asked) == 1


def test_a_stop_while_nothing_comes(site: Site) -> None:
    def silent(handler: Handler) -> None:
        site.ending.wait(20)

    site.says(silent)
    assert refusal("POST", site.url, "body={}", "stop=5") == "error 5 cancelled\n"
    assert "no answer in time" in refusal("POST", site.url, "body={}", "timeout=1")


def test_redirections(site: Site) -> None:
    other = Site()
    try:
        other.says(send(b"there"))
        away = f"{other.url.replace('127.0.0.1', 'localhost')}/leak"
        for keys in (["user=ann:s3cret"], ["token=t0ken"]):
            site.says(send(b"over there", 307, Location=away))
            assert ask("GET", site.url, *keys).body == b"there"
            for method in ("POST", "PUT", "DELETE"):
                outcome = ask(method, site.url, "body=secret", "repeatable=1", "tries=3", *keys)
                assert (outcome.status, outcome.body) == (307, b"over there")
            assert ask("GET", site.url, "header=X-Api-Key: secret").status == 307
        assert [(asked.method, "Authorization" in asked.headers) for asked in other.asked] == [("GET", False)] * 2
        assert all(asked.headers["Authorization"] == "Bearer t0ken" for asked in site.asked[:4])
    finally:
        other.close()


def test_names_and_passwords(site: Site) -> None:
    basic = "Basic " + base64.b64encode(b"ann:s3cret").decode()
    site.says(send(b"done"))
    ask("POST", site.url, "user=ann:s3cret", "body={}")
    ask("POST", site.url.replace("//", "//ann:s3cret@"), "body={}")
    assert [asked.headers["Authorization"] for asked in site.asked] == [basic] * 2
    for url in (site.url.replace("//", "//ann:s3cret@"), "http://ann:s3cret@127.0.0.1:1", "http://ann:s3cret@none.invalid/"):
        site.says(cut)
        assert "s3cret" not in refusal("GET", url)


def test_bad_headers(site: Site) -> None:
    site.says(send(b"done"))
    assert "more than one line" in refusal("GET", site.url, "header=A: b\r\nC: d")
    assert site.asked == []
