"""Planted secrets in every kind of input: no verb, format, endpoint or tool of the program's tables shows one.

A verb, endpoint or tool that this file does not know fails the test, so that a new one is covered from its first day.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from http.server import BaseHTTPRequestHandler
from itertools import product
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence, Set
from urllib.parse import quote

import pytest
from planting import leaks, phrases, write
from servers.local import LocalServer
from servers.pyrometer import Server

import conftest

sys.path.insert(0, str(conftest.ROOT / "tools"))

import list_rows  # noqa: E402

SRC = conftest.ROOT / "src"
VERBS = list_rows.names(SRC / "cli" / "verbs.def", "VERB")
FORMATS = dict(re.findall(r'^VERB_FORMATS\((\w+), "([^"]+)"', (SRC / "cli" / "formats.def").read_text(), re.M))
SPARK_ROUTES = re.findall(r'^ROUTE\("([^"]+)", \w+, (\w+)\)', (SRC / "serve/spark/routes.def").read_text(), re.M)
OWN_ROUTES = re.findall(r'^ROUTE\((\w+), "([^"]+)", \w+, (\w+),', (SRC / "serve/api/routes.def").read_text(), re.M)
TOOLS = list_rows.names(SRC / "serve" / "mcp" / "tools.def", "MCP_TOOL")
VIEWS = list_rows.names(SRC / "fleet" / "views" / "views.def", "FLEET_VIEW")
FLAMES = re.findall(r'^PYRO_FLAME_FORMAT\(\w+, \w+, "([^"]+)"', (SRC / "report/flame/formats.def").read_text(), re.M)
TABLES = list_rows.names(SRC / "model" / "tables" / "tables.def", "PYRO_TABLE")


def one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def text_log() -> str:
    """Records of each level, exceptions with causes and frames, the JVM's arguments, and lines that are none."""
    lines = []
    for number, phrase in enumerate(map(one_line, phrases())):
        time = f"26/01/02 03:{number // 60:02}:{number % 60:02}"
        lines.append(f"{time} {('INFO', 'WARN', 'ERROR')[number % 3]} Acme: connecting with {phrase}")
        if number % 4 == 0:
            lines += [f"java.lang.IllegalStateException: {phrase}", f"\tat com.acme.Reader.read(Reader.java:{number})",
                      f"Caused by: java.io.IOException: no way to {phrase}", "\tat com.acme.Reader.open(Reader.java:7)"]
        if number % 7 == 0:
            lines.append(f"unparsed {phrase}")
    return "\n".join(lines) + "\n"


def gc_log() -> str:
    lines = ["[2026-01-02T03:00:00.000+0000][0.010s][info][gc,init] CommandLine Flags: " + one_line(phrases()[0])]
    for number, phrase in enumerate(map(one_line, phrases())):
        lines.append(f"[{number}.500s][info][gc] GC({number}) Pause Young (Normal) ({phrase}) 24M->4M(256M) 3.456ms")
    return "\n".join(lines) + "\n"


def folded() -> str:
    return "".join(f"main;read {one_line(phrase)};sum 1\n" for phrase in phrases() if ";" not in phrase)


def task_threads() -> str:
    head = {"Pyrometer": "task-threads", "version": 1, "application": "app-1", "executor": phrases()[0], "host": phrases()[-1],
            "pid": 7, "refused": phrases()[0]}
    task = {"task": 1, "stage": 0, "attempt": 0, "partition": 0, "tid": 8, "start_ns": 1, "end_ns": 2, "status": "SUCCESS"}
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (head, task))


class Planted:
    """A folder of a run with every kind of file, and a store with the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "run"
        self.folder.mkdir()
        self.log, self.text, self.gc = self.folder / "app", self.folder / "driver.log", self.folder / "gc.log"
        self.profile, self.store = self.folder / "cpu.folded", folder / "runs.db"
        write(self.log, False, 0)
        self.text.write_text(text_log(), encoding="utf-8")
        self.gc.write_text(gc_log(), encoding="utf-8")
        self.profile.write_text(folded(), encoding="utf-8")
        (self.folder / "threads.jsonl").write_text(task_threads(), encoding="utf-8")
        self.corpus = folder / "corpus"
        self.corpus.mkdir()
        shutil.copy(self.log, self.corpus / "app")
        entry = {"log": "app", "healthy": True, "expected": [], "allowed": [], "split": "training", "note": phrases()[0]}
        (self.corpus / "manifest.json").write_text(json.dumps({"logs": [entry]}), encoding="utf-8")
        self.url = f"sqlite:{self.store}"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    made = Planted(tmp_path_factory.mktemp("everywhere"))
    shown(["crawl", "--once", "--store", made.url, made.log])
    shown(["diagnose", made.log, "--store", made.url])
    for file in made.store.parent.glob("runs.db*"):
        assert leaks(file.read_bytes()) == set(), file
    return made


def shown(words: Sequence[object]) -> conftest.Run:
    run = conftest.run_command([str(conftest.binary_path()), *map(str, words)])
    assert leaks(run.out) == set() and leaks(run.err) == set(), words
    assert run.exit >= 0, run.explain()
    return run


# ---- Verbs ----


def calls(planted: Planted, out: Path) -> Dict[str, List[List[object]]]:
    """What each verb is called with; its formats are tried with each."""
    log, files = planted.log, [planted.text, planted.gc, planted.profile, planted.folder]
    chosen = json.loads(shown(["store", "query", planted.url, '{"from": "findings", "fields": ["id"]}']).out)
    finding = next((row[0] for row in chosen.get("rows", []) if row), "none")
    return {
        "diagnose": [[log], [planted.folder], [planted.text], [planted.gc]],
        "compare": [[log, log]],
        "gate": [[log, "--fail-on", "low"]],
        "whatif": [[log, "--executors", "4"], [log, "--plan"]],
        "cost": [[log]],
        "sql": [[planted.folder, f"SELECT * FROM {table}"] for table in TABLES] + [[log, f"SELECT '{phrases()[0]}' + nothing"]],
        "logs": [[what, *files[:2], planted.folder] for what in ("top", "errors", "timeline")],
        "flame": [[planted.profile, "-o", out / f"flame{suffix}"] for suffix in FLAMES],
        "profile": [[file] for file in files] + [["flags"]],
        "trace": [["analyze", planted.folder], ["analyze", planted.folder / "threads.jsonl"]],
        "crawl": [["--once", "--store", f"sqlite:{out}/crawled.db", *extra, planted.folder, planted.text]
                  for extra in ([], ["--log-format", "json"])],
        "fleet": [[view, planted.url] for view in VIEWS],
        "suggest": [["--all", "-s", planted.url], ["--review", "-s", planted.url], ["--app", "x password=y", "-s", planted.url]],
        "store": [["stat", planted.url], ["prune", planted.url]] + [
            ["query", planted.url, json.dumps({"from": what})] for what in ("runs", "reports", "raw", "properties", "tags", "findings", "errors", "advice")],
        "serve": [[planted.folder / "none"]],
        "mcp": [[planted.folder / "none"]],
        "export": [[log, "--anonymized", "-o", out / "copy"]],
        "feedback": [[finding, "--verdict", "confirmed", "-s", planted.url], [log, "--missed", "disk-spill", "-s", planted.url]],
        "evaluate": [[planted.corpus]],
        "rules": [[]],
        "doctor": [[]],
        "help": [[]],
        "version": [[]],
        "completions": [["bash"]],
        "man": [[]],
    }


@pytest.mark.parametrize("verb", VERBS)
def test_verbs(verb: str, planted: Planted, tmp_path: Path) -> None:
    known = calls(planted, tmp_path)
    assert set(known) == set(VERBS), "tell this test how the new verb is called"
    forms = FORMATS.get(verb, "").split() or [""]
    pairs = list(product(known[verb], forms))
    if len(pairs) > 40:  # each with one of the formats
        pairs = [(words, forms[number % len(forms)]) for number, words in enumerate(known[verb])]
    runs = [shown([verb, *words, *(["--format", form] if form else [])]) for words, form in pairs]
    if verb in ("diagnose", "sql", "logs", "profile"):  # they show the texts that secrets were planted in
        assert sum(run.out.count(b"(redacted)") for run in runs) > 10
    assert {run.exit for run in runs} & {0, 1, 3} or verb in ("serve", "mcp")
    for file in tmp_path.rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        assert leaks(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data) == set(), file


# ---- Endpoints ----


def filled(path: str) -> Iterator[str]:
    """The path with each number, and each of the names that it can have."""
    names = {"fleet/{}": VIEWS, "rules/{}": ["disk-spill", "none"], "findings/{}": ["none"], "executors/{}/threads": ["1"]}
    if "{}" in path:
        assert path in names, "tell this test what the new endpoint is asked with"
        yield from (path.replace("{}", name) for name in names[path])
    elif "#" in path:
        yield from (re.sub(r"\{#+\}", str(number), path, count=1).replace("{#}", "0").replace("{##}", "0") for number in range(4))
    else:
        yield path


def test_endpoints(planted: Planted) -> None:
    good: Set[str] = set()
    with Server(planted.folder) as server:
        app = quote(json.loads(server.get("applications")[2])[0]["id"], safe="")
        spark, own = f"/api/v1/applications/{app}", "/pyrometer/v1"
        queries = {"compare": f"?before={app}&after={app}", "whatif": "?executors=4", "stages": "?details=true&withSummaries=true",
                   "sql": "?details=true&planDescription=true", "suggest": "?app=x", "logs/errors": "?level=INFO"}
        asked = [(path, f"{spark if scope == 'APP' else '/api/v1'}/{one}{queries.get(path, '')}")
                 for path, scope in SPARK_ROUTES for one in filled(path) if scope != "FILE"]  # the log as it is, as Spark has it
        asked += [(path, f"{own}/applications/{app}/-/{one}{queries.get(path, '')}" if scope == "APP" else f"{own}/{one}{queries.get(path, '')}")
                  for method, path, scope in OWN_ROUTES if method == "GET" and path != "events" for one in filled(path)]
        report = json.loads(server.request("GET", f"{own}/applications/{app}/-/report")[2])
        asked += [("findings/{}", f"{own}/applications/{app}/-/findings/{one['id']}") for one in report["findings"]]
        asked += [("flame", f"{own}/applications/{app}/-/flame?format={suffix.strip('.')}") for suffix in FLAMES]
        asked += [(path, path) for path in ("/metrics", "/history/", "/", f"/history/{app}/jobs/")]
        for path, address in asked:
            status, _, body = server.request("GET", address)
            assert leaks(body) == set(), address
            assert status in (200, 302, 400, 404, 422, 503), (address, status)
            if status == 200:
                good.add(path)
        for method, path, scope in OWN_ROUTES:
            if method != "GET":
                place = f"{own}/applications/{app}/-/{path}" if scope == "APP" else f"{own}/{path}"
                assert leaks(server.request(method, place.replace("{}", "x"))[2]) == set(), path
    expected = {path for path, _ in SPARK_ROUTES if not path.startswith(("streaming", "executors/{}"))} - {"logs", "storage/rdd/{#}"}
    assert expected <= good, expected - good
    assert {"report", "timeline", "profile", "flame", "logs/errors", "logs/top", "logs/timeline", "compare", "cost"} <= good


# ---- Tools of agents ----


def test_tools(planted: Planted, tmp_path: Path) -> None:
    app = json.loads(shown(["sql", planted.log, "SELECT id FROM applications", "--format", "json"]).out)[0]["id"]
    whats = ["jobs", "stages", "executors", "sql", "failures", "slow_tasks", "timeline", "configuration", "environment"]
    given: Dict[str, List[Dict[str, Any]]] = {
        "list_applications": [{}],
        "diagnose": [{"app": app}, {"app": "password=none"}],
        "explain_finding": [{"app": app, "finding": "none"}],
        "inspect": [{"app": app, "what": what} for what in whats],
        "stage": [{"app": app, "stage": number} for number in range(3)],
        "sql_plan": [{"app": app, "execution": number} for number in range(3)],
        "logs": [{"app": app, "what": what} for what in ("errors", "top", "timeline")] + [{"app": app}],
        "profile": [{"app": app}],
        "compare": [{"before": app, "after": app}],
        "what_if": [{"app": app, "executors": 4}],
        "cost": [{"app": app}],
        "query": [{"app": app, "statement": f"SELECT * FROM {table}"} for table in TABLES],
        "fleet": [{"view": view} for view in VIEWS],
        "suggest": [{"app": "x"}],
    }
    assert set(given) == set(TOOLS), "tell this test what the new tool is asked with"
    questions: List[Dict[str, Any]] = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}]
    questions += [{"jsonrpc": "2.0", "id": number + 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
                  for number, (name, arguments) in enumerate((name, one) for name, all_ in given.items() for one in all_)]
    asked = tmp_path / "questions"
    asked.write_text("".join(json.dumps(one) + "\n" for one in questions), encoding="utf-8")
    with asked.open("rb") as stdin:
        run = conftest.run_command([str(conftest.binary_path()), "mcp", str(planted.folder)], stdin)
    assert len(run.out.splitlines()) == len(questions)
    assert leaks(run.out) == set() and leaks(run.err) == set()


# ---- Servers ----


class Talkative(LocalServer):
    """Lists applications, and answers all else with a status and another phrase each time, at the end of what is shown too."""

    def __init__(self) -> None:
        self.listed: List[Dict[str, Any]] = []
        self.asked = 0
        site, known = self, phrases()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked += 1
                status = (500, 404, 200)[site.asked % 3]
                body = ("x" * (site.asked % 4 * 60) + " " + known[site.asked % len(known)]).encode()
                if site.listed and self.path.split("?")[0] == "/api/v1/applications":
                    status, body = 200, json.dumps(site.listed).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *values: Any) -> None:
                pass

        self.listen(Handler)


def test_what_servers_say(tmp_path: Path) -> None:
    """On standard output and standard error, and in what is kept of it."""
    store = tmp_path / "runs.db"
    with Talkative() as site:
        for number in range(40):
            shown(["diagnose", f"{site.url}/log?x={number}" if number % 4 else site.url])
        for number in range(3):
            form = ["--log-format", "json"] if number % 2 else []
            attempt: Dict[str, Any] = {"startTimeEpoch": 1, "endTimeEpoch": 2, "lastUpdatedEpoch": 2, "completed": True}
            site.listed = [{"id": f"app-{number}", "name": phrases()[21 * number], "attempts": [attempt]}]
            shown(["crawl", site.url, "--once", "--store", f"sqlite:{store}", *form])
        assert leaks(store.read_bytes()) == set()
        site.listed = [{"id": f"app {one_line(phrases()[8])}", "name": "x", "attempts": [attempt]}]
        shown(["crawl", site.url, "--once", "--store", f"sqlite:{store}"])
        site.listed = []
        shown(["crawl", site.url, "--once", "--store", f"sqlite:{tmp_path}/none.db"])
