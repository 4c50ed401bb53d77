"""Views over HTTP and MCP: the same documents as the command's, and for each user only what the user may see."""

from __future__ import annotations

import http.client
import json
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List
from urllib.parse import urlencode

import pytest

import conftest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import repeated_runs  # noqa: E402
import schemas  # noqa: E402
import view_oracle as oracle  # noqa: E402
from cli_command import Command  # noqa: E402
from fleet_views import VIEWS  # noqa: E402
from servers.pyrometer import Server  # noqa: E402
from test_views import APP, compare_rows, rows_of  # noqa: E402


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "fleet.db"
    repeated_runs.build(path)
    return path


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[Server]:
    with Server(Path(f"sqlite:{store}"), "--config", "none") as running:
        yield running


def ask(server: Server, view: str, status: int = 200, headers: Dict[str, str] = {}, **parameters: object) -> Dict[str, Any]:  # noqa: B006
    answer = server.request("GET", f"/pyrometer/v1/fleet/{view}?{urlencode(parameters, doseq=True)}", headers)
    assert answer[0] == status, answer[2][:500]
    document: Dict[str, Any] = json.loads(answer[2])
    return document


def test_what_there_is(server: Server) -> None:
    document = json.loads(server.request("GET", "/pyrometer/v1/fleet")[2])
    schemas.check(document, "pyrometer.fleet-1.json")
    assert document["stores"] == [{"number": 1, "name": "fleet.db"}]  # without folders
    assert [view["name"] for view in document["views"]] == VIEWS
    for view in document["views"]:
        assert "by" in view["options"]
        for option in {"value", "before", "instance"} - set(view["options"]):
            failed = ask(server, view["name"], 400, **{option: "x"})
            assert f"no option '{option}'" in failed["error"]["message"]
    version = json.loads(server.request("GET", "/pyrometer/v1/version")[2])
    assert version["stores"] == 1


@pytest.mark.parametrize("view", VIEWS)
def test_answers_are_those_of_the_command(server: Server, store: Path, view: str) -> None:
    asked = {"app": APP, "since": "2026-01-03"} if view == "compare" else {"user": "bob", "since": "2026-01-03"}
    document = ask(server, view, **asked)
    schemas.check(document, f"pyrometer.fleet_{view}-1.json")
    options = [word for name, value in asked.items() for word in (f"--{name}", value)]
    done = Command(store.parent)("fleet", view, f"sqlite:{store}", "--format", "json", *options)
    assert document == json.loads(done.stdout) and document["rows"]


def test_lists_of_filters(server: Server, store: Path) -> None:
    rows = rows_of(ask(server, "runs", tag=["team=red"], max=["duration_ms=100000", "core_ms=200000"]))
    expected = oracle.runs(oracle.Fleet(store), lambda run: run["tag.team"] == "red" and run["duration_ms"] <= 100_000 and run["core_ms"] <= 200_000)
    compare_rows(rows, "application", expected)
    assert rows_of(ask(server, "runs", user="")) == rows_of(ask(server, "runs"))  # an empty field of a form


@pytest.mark.parametrize(
    ("view", "parameters", "status", "words"),
    [
        ("usgae", {}, 400, "did you mean 'usage'"),
        ("usage", {"by": "usr"}, 400, "did you mean 'user'"),
        ("usage", {"since": "soon"}, 400, "since"),
        ("usage", {"store": 2}, 404, "no store 2"),
        ("usage", {"store": 0}, 400, "store"),
        ("usage", {"byy": "user"}, 400, "did you mean 'by'"),
        ("compare", {"at": "2026-01-05"}, 400, "date only"),
    ],
)
def test_wrong_questions(server: Server, view: str, parameters: Dict[str, object], status: int, words: str) -> None:
    answer = ask(server, view, status, **parameters)
    assert words in answer["error"]["message"]
    assert str(repeated_runs.ROOT) not in json.dumps(answer)


def test_without_a_store(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        assert "no store" in ask(server, "usage", 404)["error"]["message"]
        assert json.loads(server.request("GET", "/pyrometer/v1/fleet")[2])["stores"] == []


# ---- Who sees what ----


def add_token(file: Path, name: str, role: str) -> Dict[str, str]:
    done = conftest.run_command([str(conftest.binary_path()), "serve", "--add-token", name, "--role", role, "--tokens", str(file)])
    return {"Authorization": f"Bearer {done.out.decode().strip()}"}


def test_users_see_views_of_their_own_runs(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    ann, zoe, admin = add_token(file, "ann", "view"), add_token(file, "zoe", "view"), add_token(file, "root", "admin")
    fleet = oracle.Fleet(store)
    with Server(Path(f"sqlite:{store}"), "--config", "none", "--tokens", str(file), "--acls") as server:
        assert server.request("GET", "/pyrometer/v1/fleet/usage")[0] == 401
        for headers, keep in ((ann, lambda run: run["user"] == "ann"), (admin, lambda run: True)):
            compare_rows(rows_of(ask(server, "runs", headers=headers)), "application", oracle.runs(fleet, keep))
            compare_rows(rows_of(ask(server, "findings", headers=headers)), "rule", oracle.findings(fleet, "rule", keep))
            compare_rows(rows_of(ask(server, "waste", headers=headers, by="user")), "user", oracle.waste(fleet, "user", keep))
        for view in VIEWS:
            rows = rows_of(ask(server, view, headers=zoe))
            assert [row for row in rows if view != "compare" or row["before_runs"] or row["after_runs"]] == [], view
        kinds = [{row["kind"] for row in rows_of(ask(server, "problems", headers=headers))} for headers in (ann, admin)]
        assert "read: input" not in kinds[0] and "read: input" in kinds[1]
        assert [row["verdict"] for row in rows_of(ask(server, "compare", headers=zoe, app=APP))] == ["too few runs"]


# ---- MCP ----


def call(server: Server, arguments: Dict[str, Any]) -> Dict[str, Any]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fleet", "arguments": arguments}}
    try:
        connection.request("POST", "/mcp", json.dumps(message), {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
        answer: Dict[str, Any] = json.loads(connection.getresponse().read())["result"]
        return answer
    finally:
        connection.close()


def text_of(result: Dict[str, Any]) -> str:
    parts: List[Dict[str, str]] = result["content"]
    return parts[0]["text"]


def test_the_tool_of_agents(server: Server) -> None:
    result = call(server, {"view": "runs", "app": APP, "budget": 4000})
    assert not result.get("isError") and "LASTING CHANGES" in text_of(result) and "version 1 -> 2" in text_of(result)
    assert "data-skew" in text_of(call(server, {"view": "findings", "tags": ["team=red"], "max": ["duration_ms=1e9"]}))
    assert "more" in text_of(call(server, {"view": "compare", "app": APP, "by": "version"}))
    wrong = call(server, {"view": "usgae"})
    assert wrong["isError"] and "did you mean 'usage'" in text_of(wrong)
    missing = call(server, {"view": "usage", "store": 2})
    assert missing["isError"] and "no such store" in text_of(missing)
