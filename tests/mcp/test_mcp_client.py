"""`pyrometer mcp` and /mcp, as the protocol's own Python client sees them."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, AsyncIterator, Awaitable, Callable, Iterator

import pytest

import conftest

sys.path.insert(0, str(Path(__file__).parent.parent / "serve"))
from servers.pyrometer import Server  # noqa: E402

mcp = pytest.importorskip("mcp", reason="the protocol's client needs Python 3.10")
from mcp import ClientSession, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402

LOGS = conftest.ROOT / "corpus" / "logs"
ARTEFACTS = conftest.ROOT / "tests" / "artefacts"
NAMES = ["data_skew.zst", "data_skew_repaired.zst", "job_failed_udf.zst"]
TABLE = Path(__file__).resolve().parents[2] / "src" / "serve" / "mcp" / "tools.def"
TOOLS = set(re.findall(r"^MCP_TOOL\((\w+),", TABLE.read_text(encoding="utf-8"), re.M))

Talk = Callable[[ClientSession], Awaitable[Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs")
    for name in NAMES:
        shutil.copy(LOGS / name, path / name)
    return path


@asynccontextmanager
async def over_stdio(folder: Path) -> AsyncIterator[ClientSession]:
    parameters = StdioServerParameters(command=str(conftest.binary_path()), args=["mcp", str(folder)])
    async with stdio_client(parameters) as (reading, writing):
        async with ClientSession(reading, writing) as session:
            await session.initialize()
            yield session


@pytest.fixture(scope="module")
def talk(folder: Path) -> Callable[[Talk], Any]:
    def run(what: Talk) -> Any:
        async def whole() -> Any:
            async with over_stdio(folder) as session:
                return await what(session)

        return asyncio.run(asyncio.wait_for(whole(), 60))

    return run


@pytest.fixture(scope="module")
def call(talk: Callable[[Talk], Any]) -> Callable[..., str]:
    def run(tool: str, *, error: bool = False, **arguments: Any) -> str:
        result = talk(lambda session: session.call_tool(tool, arguments))
        text: str = "".join(one.text for one in result.content)
        assert bool(getattr(result, "isError", getattr(result, "is_error", False))) == error, text
        return text

    return run


def diagnosis(name: str) -> Any:
    return conftest.run_command([str(conftest.binary_path()), "diagnose", str(LOGS / name), "--format", "json"]).json


def test_tools_and_prompts(talk: Callable[[Talk], Any]) -> None:
    async def ask(session: ClientSession) -> Any:
        return await session.list_tools(), await session.list_prompts()

    tools, prompts = talk(ask)
    assert {one.name for one in tools.tools} == TOOLS
    assert {one.name for one in prompts.prompts} == {"why_slow", "investigate_failure", "compare_runs"}
    page = (conftest.ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    for tool in tools.tools:
        schema = tool.inputSchema if hasattr(tool, "inputSchema") else tool.input_schema
        row = next(line for line in page.splitlines() if line.startswith(f"| `{tool.name}`"))
        assert set(schema["properties"]) - {"budget", "offset"} <= {word.strip("`") for word in row.split("|")[2].replace(",", " ").split()}


def test_prompt_is_filled(talk: Callable[[Talk], Any]) -> None:
    prompt = talk(lambda session: session.get_prompt("compare_runs", {"before": "a-1", "after": "b-2"}))
    assert "before='a-1' and after='b-2'" in prompt.messages[0].content.text


def test_list(call: Callable[..., str]) -> None:
    lines = call("list_applications").splitlines()
    assert lines[0].startswith("3 runs")
    assert len(lines) == 4
    assert len(call("list_applications", search="SKEW").splitlines()) == 3
    assert len(call("list_applications", status="running").splitlines()) == 1


def test_diagnose_agrees_with_the_command(call: Callable[..., str]) -> None:
    report = diagnosis("data_skew.zst")
    text = call("diagnose", app=report["application"]["id"], budget=8000)
    for finding in report["findings"]:
        assert finding["id"] in text and finding["cause"] in text
    for key, value in report["config_changes"].items():
        assert f"--conf {key}={value}" in text
    assert text == call("diagnose", app="data_skew", budget=8000), "a name means its newest run"


def test_explain(call: Callable[..., str]) -> None:
    finding = diagnosis("data_skew.zst")["findings"][0]
    text = call("explain_finding", app="data_skew", finding=finding["id"], budget=8000)
    for one in finding["evidence"]:
        assert one["metric"] in text
    for one in finding["advice"]:
        assert one["text"] in text
    assert "quiet" in call("explain_finding", app="data_skew", finding="disk-spill")
    assert finding["id"] in call("explain_finding", app="data_skew", finding="no-such", error=True)


def test_budget_and_offset_give_everything_once(call: Callable[..., str]) -> None:
    whole = call("inspect", app="data_skew", what="slow_tasks", budget=20000).splitlines()
    assert len(whole) > 20
    lines: list[str] = []
    for _ in range(200):
        answer = call("inspect", app="data_skew", what="slow_tasks", budget=400, offset=len(lines)).splitlines()
        assert sum(len(line) + 1 for line in answer[:-1]) <= 1200
        more = answer[-1].startswith("[")
        lines += answer[:-1] if more else answer
        if not more:
            break
        assert f"offset={len(lines)}" in answer[-1]
    assert lines == whole


@pytest.mark.parametrize("what", ["jobs", "stages", "executors", "sql", "failures", "slow_tasks", "timeline", "configuration", "environment"])
def test_inspect(call: Callable[..., str], what: str) -> None:
    assert len(call("inspect", app="data_skew", what=what)) > 20


def test_failures_are_told(call: Callable[..., str]) -> None:
    report = diagnosis("job_failed_udf.zst")
    assert report["totals"]["failed_tasks"] > 0
    text = call("inspect", app="job_failed_udf", what="failures", budget=4000)
    assert "failed" in text and " none" not in text
    assert "Exception" in text, "messages are shown"


def test_environment_is_searched(call: Callable[..., str]) -> None:
    text = call("inspect", app="data_skew", what="environment", search="executor.memory")
    assert "spark.executor.memory=1g" in text and "spark.app.id" not in text


def test_stage(call: Callable[..., str]) -> None:
    report = diagnosis("data_skew.zst")
    stage = max(report["stages"], key=lambda one: one["duration_ms"]["max"])
    text = call("stage", app="data_skew", stage=stage["id"], budget=4000)
    assert "duration_ms | " in text and "Outlier tasks" in text and report["findings"][0]["id"] in text
    assert "stages" in call("stage", app="data_skew", stage=12345, error=True)


def test_sql_plan(call: Callable[..., str]) -> None:
    report = diagnosis("data_skew.zst")
    text = call("sql_plan", app="data_skew", execution=report["sql"][0]["id"], budget=8000)
    for operator in report["sql"][0]["operators"]:
        assert operator["name"] in text


def test_compare(call: Callable[..., str]) -> None:
    text = call("compare", before="data_skew", after="data_skew_repaired", budget=8000)
    assert "data_skew" in text and " s" in text


def test_what_if_and_cost(call: Callable[..., str]) -> None:
    assert "executors" in call("what_if", app="data_skew")
    text = call("what_if", app="data_skew", sweep=["executors=1..4"], set=["cores=2"])
    assert len([line for line in text.splitlines() if line.split()[:2] in (["1", "2"], ["2", "2"], ["3", "2"], ["4", "2"])]) == 4
    assert "spark.foo" in call("what_if", app="data_skew", set=["spark.foo=1"], error=True)
    assert "core hours" in call("cost", app="data_skew")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[bool, str]]:
    """Calls about a run with text logs and a profile."""
    folder = tmp_path_factory.mktemp("bundle") / "run"
    shutil.copytree(ARTEFACTS / "logs" / "iso", folder)
    shutil.copy(ARTEFACTS / "profiles" / "jdk17.jfr.gz", folder)

    def run(tool: str, **arguments: Any) -> tuple[bool, str]:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {"app": "iso", **arguments}}}
        done = subprocess.run(
            [str(conftest.binary_path()), "mcp", str(folder)], input=json.dumps(message) + "\n", capture_output=True, text=True, check=True
        )
        result = json.loads(done.stdout)["result"]
        return result.get("isError", False), "".join(one["text"] for one in result["content"])

    return run


def test_logs(bundle: Callable[..., tuple[bool, str]]) -> None:
    failed, text = bundle("logs", budget=5000)
    assert not failed and "18 kinds of errors" in text
    number = next(line.split(".")[0] for line in text.splitlines() if "ClassNotFoundException: com.acme.Gone" in line)
    failed, whole = bundle("logs", error=int(number), budget=5000)
    assert not failed and "java.lang.ClassNotFoundException" in whole and len(whole.splitlines()) > 10
    failed, one = bundle("logs", executor="1", grep="OutOfMemory")
    assert not failed and "java.lang.OutOfMemoryError" in one and "com.acme.Gone" not in one
    failed, top = bundle("logs", what="top", budget=300)
    assert not failed and "of all lines" in top and "offset=" in top and len(top) <= 300 * 3 + 200
    assert bundle("logs", error=99)[0] and bundle("logs", grep="(")[0] and bundle("logs", level="loud")[0]


def test_profile(bundle: Callable[..., tuple[bool, str]]) -> None:
    failed, text = bundle("profile", budget=5000)
    assert not failed, text
    assert "Methods by samples of cpu" in text and "ProfiledWork" in text and "jdk17.jfr.gz" in text
    assert "Pauses of garbage collectors" in text and "heap.used" in text
    failed, alloc = bundle("profile", event="alloc", budget=5000)
    assert not failed and "Methods by samples of alloc" in alloc and "Methods by samples of cpu" not in alloc
    document = json.loads(subprocess.run(
        [str(conftest.binary_path()), "profile", str(ARTEFACTS / "profiles" / "jdk17.jfr.gz"), "-f", "json"],
        capture_output=True, check=True).stdout)
    first = next(method for method in document["top_methods"] if method["event"] == "cpu")
    row = next(line for line in text.splitlines() if first["function"] in line)
    assert row.replace("|", " ").split()[:3] == [str(first["self"]), f"{100 * first['self_share']:.1f}", str(first["total"])]
    failed, none = bundle("profile", stage=77, budget=5000)
    assert not failed and "Methods by" not in none


def test_runs_without_such_files(call: Callable[..., str]) -> None:
    assert "has no text logs" in call("logs", error=True, app="data_skew")
    assert "has no records of profilers" in call("profile", error=True, app="data_skew")


def test_query(call: Callable[..., str]) -> None:
    report = diagnosis("data_skew.zst")
    text = call("query", app="data_skew", statement="SELECT count(*) AS n FROM tasks")
    assert text.split() == ["n", str(report["totals"]["tasks"])]
    assert "sql_metrics: sql node" in call("query", app="data_skew")
    assert "nothing" in call("query", app="data_skew", statement="SELECT nothing", error=True)
    call("query", app="data_skew", statement="DROP TABLE tasks", error=True)


@pytest.mark.parametrize(
    "tool, arguments, part",
    [
        ("diagnose", {}, "needs 'app'"),
        ("diagnose", {"app": "nobody"}, "list_applications"),
        ("diagnose", {"app": "data_skew", "apps": 1}, "it has: app"),
        ("diagnose", {"app": 5}, "of type string"),
        ("inspect", {"app": "data_skew", "what": "threads"}, "jobs stages"),
        ("what_if", {"app": "data_skew", "set": ["x"] * 40}, "more than"),
    ],
)
def test_wrong_calls_say_what_to_do(call: Callable[..., str], tool: str, arguments: dict[str, Any], part: str) -> None:
    assert part in call(tool, error=True, **arguments)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with Server(folder) as running:
        yield running


def test_over_http(server: Server, call: Callable[..., str]) -> None:
    from mcp.client.streamable_http import streamable_http_client

    async def whole() -> Any:
        async with streamable_http_client(f"http://{server.host}:{server.port}/mcp") as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                return await session.call_tool("diagnose", {"app": "data_skew"})

    result = asyncio.run(asyncio.wait_for(whole(), 60))
    assert result.content[0].text == call("diagnose", app="data_skew")


def test_over_http_the_servers_prices_count(folder: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "prices.yaml"
    sheet.write_text(
        "schema: pyrometer.prices/1\ncurrency: CHF\nsource: agreed\ndated: 2026-01-01\nprices:\n  - {service: cluster, unit: core-hour, price: 3.6}\n"
    )
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "cost", "arguments": {"app": "data_skew"}},
    }
    with Server(folder, "--prices", str(sheet)) as priced:
        request = urllib.request.Request(
            f"http://{priced.host}:{priced.port}/mcp",
            data=json.dumps(message).encode(),
            headers={"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            text = json.load(response)["result"]["content"][0]["text"]
    assert "CHF" in text


RAW = [
    ("{", -32700),
    ("[]", -32600),
    ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":1}', -32600),
    ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601),
    ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}', -32602),
    ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cost","arguments":[]}}', -32602),
    ('{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"why_slow"}}', -32602),
    ("[" * 100000, -32700),
    ('{"jsonrpc":"2.0","id":1,"method":"' + "ä" * 300 + '"}', -32601),
]


def test_raw_messages(folder: Path) -> None:
    lines = "".join(message + "\n" for message, _ in RAW) + '{"jsonrpc":"2.0","method":"notifications/initialized"}\n\n'
    with tempfile.TemporaryFile() as messages:
        messages.write(lines.encode())
        messages.seek(0)
        done = conftest.run_command([str(conftest.binary_path()), "mcp", str(folder)], stdin=messages)
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [one["error"]["code"] for one in answers] == [code for _, code in RAW]
    assert done.exit == 0
