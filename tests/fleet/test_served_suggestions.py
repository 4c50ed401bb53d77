"""Suggestions over HTTP, from what a store has."""

from __future__ import annotations

import http.client
import json
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping
from urllib.parse import urlencode

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import conftest  # noqa: E402
import schemas  # noqa: E402
from cli_command import Command  # noqa: E402
from servers.pyrometer import Server  # noqa: E402
from suggested_runs import Made, Runs, record  # noqa: E402


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suggested")
    path = folder / "runs.db"
    record(Command(folder), path)
    runs = Runs(path)
    for i in range(24):
        runs.add((Made(5, 4), Made(5, 2), Made(8, 2))[i % 3])
    return path


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[Server]:
    with Server(Path(f"sqlite:{store}"), "--config", "none") as running:
        yield running


def ask(server: Server, status: int = 200, **parameters: object) -> Dict[str, Any]:
    answer = server.request("GET", f"/pyrometer/v1/suggest?{urlencode(parameters)}")
    assert answer[0] == status, answer[2][:500]
    document: Dict[str, Any] = json.loads(answer[2])
    return document


def test_the_answer_is_that_of_the_command(server: Server, store: Path) -> None:
    document = ask(server, app="nightly")
    schemas.check(document, "pyrometer.suggestion-1.json")
    command = Command(store.parent)
    said = command("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--no-logs", "-f", "json")
    assert document == json.loads(said.stdout) and document["settings"] == {"spark.executor.instances": "5"}
    assert ask(server, app="nightly", deadline_ms=80000)["settings"]["spark.executor.cores"] == "4"
    assert ask(server, app="nightly", input_bytes=10 * 2**27)["input_bytes"] == 10 * 2**27


def test_too_little_history_and_wrong_questions(server: Server) -> None:
    document = ask(server, app="never seen")
    schemas.check(document, "pyrometer.suggestion-1.json")
    assert document["settings"] == {} and document["missing"]
    assert "app" in ask(server, 400)["error"]["message"]
    ask(server, 404, app="nightly", store=7)
    ask(server, 400, app="nightly", deadline_ms="soon")


# ---- Agents ----


def tell_agent(server: Server, headers: Mapping[str, str], error: bool = False, **arguments: object) -> str:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "suggest", "arguments": arguments}}
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    connection.request("POST", "/mcp", json.dumps(message), {"Content-Type": "application/json", "Accept": "application/json", **headers})
    result = json.loads(connection.getresponse().read())["result"]
    connection.close()
    assert bool(result.get("isError")) == error, result
    text: str = result["content"][0]["text"]
    return text


def test_the_tool_of_agents(server: Server, store: Path) -> None:
    command = Command(store.parent)
    said = command("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--no-logs")
    assert tell_agent(server, {}, app="nightly") == said.stdout
    assert "spark.executor.cores=4" in tell_agent(server, {}, app="nightly", deadline_s=80)
    assert "Input: 1.3 GiB" in tell_agent(server, {}, app="nightly", input_bytes=10 * 2**27)
    assert "no such store" in tell_agent(server, {}, error=True, app="nightly", store=2)
    assert "deadline_s" in tell_agent(server, {}, error=True, app="nightly", deadline_s=-1)
    assert "not below 0" in tell_agent(server, {}, error=True, app="nightly", input_bytes=-1)


def test_agents_see_runs_of_their_user(store: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"

    def token(name: str, role: str) -> Dict[str, str]:
        arguments = ["serve", "--add-token", name, "--role", role, "--tokens", str(tokens)]
        return {"Authorization": f"Bearer {conftest.run_command([str(conftest.binary_path()), *arguments]).out.decode().strip()}"}

    zoe, admin = token("zoe", "view"), token("root", "admin")
    with Server(Path(f"sqlite:{store}"), "--config", "none", "--tokens", str(tokens), "--acls") as guarded:
        assert "spark.executor.instances=5" in tell_agent(guarded, admin, app="nightly")
        hidden, unknown = (tell_agent(guarded, zoe, app=name) for name in ("nightly", "never seen"))
        assert hidden == unknown.replace("never seen", "nightly") and "spark.executor" not in hidden
