"""Addresses of a History Server's own pages lead to the pages of the web UI."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Iterator, Optional, Tuple

import pytest

from servers.pyrometer import Server
from test_web import needs_web

ROOT = Path(__file__).resolve().parents[2]
YARN = "application_1795242757850_0001"

pytestmark = needs_web


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An application with two attempts, one without any, and one whose id needs escaping."""
    folder = tmp_path_factory.mktemp("links")
    for path in (ROOT / "tests" / "logs" / "attempts").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for name, app in (("plain", "app-1"), ("odd", "a b#c"), ("long", "x" * 300)):
        start = {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": app, "Timestamp": 1, "User": "u"}
        (folder / name).write_text(
            json.dumps({"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"})
            + "\n"
            + json.dumps(start)
            + "\n"
            + json.dumps({"Event": "SparkListenerApplicationEnd", "Timestamp": 2})
            + "\n"
        )
    with Server(folder) as running:
        yield running


def follow(server: Server, path: str) -> Tuple[int, Optional[str]]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status, response.getheader("Location")
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("spark", "page"),
    [
        ("app-1", "app-1/-/overview"),
        ("app-1/", "app-1/-/overview"),
        ("app-1/jobs/", "app-1/-/timeline"),
        ("app-1/jobs/job/?id=3", "app-1/-/timeline"),
        ("app-1/stages/", "app-1/-/stage"),
        ("app-1/stages/stage/?id=3&attempt=1", "app-1/-/stage/3/1"),
        ("app-1/stages/stage/?id=3", "app-1/-/stage/3"),
        ("app-1/stages/stage/?id=x&attempt=1", "app-1/-/stage"),
        ("app-1/SQL/", "app-1/-/sql"),
        ("app-1/SQL/execution/?id=12", "app-1/-/sql/12"),
        ("app-1/executors/", "app-1/-/executors"),
        ("app-1/storage/rdd/?id=1", "app-1/-/executors"),
        ("app-1/environment/", "app-1/-/configuration"),
        ("app-1/StreamingQuery/statistics/?id=1", "app-1/-/overview"),
        (f"{YARN}/1/stages/", f"{YARN}/1/stage"),
        (f"{YARN}/2", f"{YARN}/2/overview"),
        (f"{YARN}/jobs/", f"{YARN}/2/timeline"),  # the newest attempt
        ("a%20b%23c/jobs/", "a%20b%23c/-/timeline"),
    ],
)
def test_leads_to_the_page(server: Server, spark: str, page: str) -> None:
    assert follow(server, f"/history/{spark}") == (302, f"/#/app/{page}")


def test_list(server: Server) -> None:
    assert follow(server, "/history/") == (302, "/")


@pytest.mark.parametrize("path", ["app-2", "app-2/jobs/", "x" * 300, "a/" * 30])
def test_leads_nowhere(server: Server, path: str) -> None:
    assert follow(server, f"/history/{path}") == (404, None)


def test_names_only_this_server(server: Server) -> None:
    """No address that a client makes up may lead to another host."""
    for path in ("//evil.example/", "%2F%2Fevil.example", "..%2F..", "app-1/%0d%0aLocation:%20x"):
        status, place = follow(server, f"/history/{path}")
        assert status == 404 or (place is not None and place.startswith("/") and not place.startswith("//"))
