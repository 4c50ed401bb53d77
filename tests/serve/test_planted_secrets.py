"""Secrets of all kinds in every text of every event: no byte of any output, index, store or temporary file shows one."""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List
from urllib.parse import quote

import pytest
from planting import leaks, phrases, write
from servers.pyrometer import Server

import conftest

sys.path.insert(0, str(conftest.ROOT / "tools"))

import list_rows  # noqa: E402

FORMS = [name.lower() for name in list_rows.names(conftest.ROOT / "src" / "report" / "formats.def", "PYRO_FORMAT")]
FLAMES = re.findall(r'^PYRO_FLAME_FORMAT\(\w+, \w+, "([^"]+)"', (conftest.ROOT / "src/report/flame/formats.def").read_text(), re.M)
TABLES = list_rows.names(conftest.ROOT / "src" / "model" / "tables" / "tables.def", "PYRO_TABLE")


@pytest.fixture(scope="module", params=["texts", "everywhere"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    write(folder / "app", request.param == "everywhere", 2 if request.param == "texts" else 0)
    return folder / "app"


def pyrometer(*words: object) -> conftest.Run:
    run = conftest.run_command([str(conftest.binary_path()), *map(str, words)])
    assert leaks(run.out) == set() and leaks(run.err) == set(), words
    return run


@pytest.mark.parametrize("form", FORMS)
def test_reports(log: Path, form: str) -> None:
    run = pyrometer("diagnose", log, "--format", form)
    if run.exit == 2 and b"npm" in run.err:
        pytest.skip("this build has no web page")
    assert run.exit == 0


def test_tables(log: Path, request: pytest.FixtureRequest) -> None:
    shown = b""
    for number, table in enumerate(TABLES):  # the other log and test_secrets_everywhere.py have other pairs
        form = ("json", "csv")[(number + ("everywhere" in request.node.name)) % 2]
        run = pyrometer("sql", log, f"SELECT * FROM {table}", "--format", form)
        assert run.exit == 0, run.explain()
        shown += run.out
    assert shown.count(b"*********(redacted)") > 50


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folded stacks whose frames say secrets, as names of threads, files and generated classes may."""
    path = tmp_path_factory.mktemp("profile") / "cpu.folded"
    frames = [phrase.replace("\n", " ") for phrase in phrases() if ";" not in phrase]  # a semicolon ends a frame
    assert len(frames) > 100
    path.write_text("".join(f"main;read {frame};sum 1\n" for frame in frames))
    return path


@pytest.mark.parametrize("suffix", FLAMES)
def test_flame_graphs(profile: Path, suffix: str, tmp_path: Path) -> None:
    out = tmp_path / f"out{suffix}"
    assert pyrometer("flame", profile, "-o", out).exit == 0
    drawn = gzip.decompress(out.read_bytes()) if suffix.endswith(".gz") else out.read_bytes()
    assert leaks(drawn) == set()
    assert drawn.count(b"(redacted)") > 50


def test_profiles(profile: Path) -> None:
    for form in ("text", "json", "html"):
        pyrometer("profile", profile, "--format", form)


def test_other_verbs(log: Path, tmp_path: Path) -> None:
    assert pyrometer("compare", log, log, "--format", "json").exit == 0
    assert pyrometer("whatif", log, "--executors", "4", "--format", "json").exit in (0, 3)
    assert pyrometer("cost", log, "--format", "json").exit in (0, 3)
    for form in ("text", "json", "junit", "sarif"):
        assert pyrometer("gate", log, "--fail-on", "low", "--format", form).exit in (0, 1)
    assert pyrometer("export", log, "--anonymized", "-o", tmp_path / "out").exit == 0
    assert leaks((tmp_path / "out").read_bytes()) == set()
    pyrometer("diagnose", log.parent / "no-such-log")


def test_store(log: Path, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    assert pyrometer("diagnose", log, "--store", f"sqlite:{store}", "--format", "json").exit == 0
    for file in tmp_path.iterdir():
        assert leaks(file.read_bytes()) == set(), file


def ids(server: Server) -> str:
    return quote(json.loads(server.get("applications")[2])[0]["id"], safe="")


def paths(server: Server) -> Iterator[str]:
    """What answers about the application, by what the answers themselves name."""
    app = ids(server)
    spark, own = f"/api/v1/applications/{app}", f"/pyrometer/v1/applications/{app}/-"
    yield from ["/api/v1/applications", "/pyrometer/v1/applications", "/metrics", spark]
    for one in ("jobs", "stages", "stages?details=true&withSummaries=true", "executors", "allexecutors", "allmiscellaneousprocess",
                "storage/rdd", "environment", "sql?details=true&planDescription=true", "streaming/statistics"):
        yield f"{spark}/{one}"
    for stage in json.loads(server.get(f"applications/{app}/stages")[2]):
        place = f"{stage['stageId']}/{stage['attemptId']}"
        yield from (f"{spark}/stages/{place}?details=true", f"{spark}/stages/{place}/taskList", f"{spark}/stages/{place}/taskSummary",
                    f"{own}/stages/{place}")
    for rdd in json.loads(server.get(f"applications/{app}/storage/rdd")[2]):
        yield f"{spark}/storage/rdd/{rdd['id']}"
    for job in json.loads(server.get(f"applications/{app}/jobs")[2]):
        yield f"{spark}/jobs/{job['jobId']}"
    for execution in json.loads(server.get(f"applications/{app}/sql")[2]):
        yield from (f"{spark}/sql/{execution['id']}?details=true&planDescription=true", f"{own}/sql/{execution['id']}")
    for one in ("report", "timeline", "sql", "executors", "environment", "configuration", "cost", "whatif?executors=4"):
        yield f"{own}/{one}"
    for finding in json.loads(server.request("GET", f"{own}/report")[2])["findings"]:
        yield f"{own}/findings/{finding['id']}"
    yield from (f"{own}/findings/none", f"{spark}/stages/999999", "/history/", "/")


def test_server(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers, and what it keeps between starts and while it runs."""
    cache, temporary = tmp_path / "cache", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    asked, folder = 0, log.parent
    large = log.stat().st_size > 1 << 20
    if large:  # only of such is an index kept
        folder = tmp_path / "logs"
        folder.mkdir()
        write(folder / "app", False, 17)
    with Server(folder, "--cache", str(cache)) as server:
        for path in paths(server):
            asked += 1
            status, _, body = server.request("GET", path)
            assert leaks(body) == set(), path
            assert status in (200, 302, 404), path
        for _ in range(100):
            if not large or any(file.suffix == ".history" for file in cache.iterdir()):
                break
            time.sleep(0.1)
    assert asked > 30
    kept: List[Path] = [file for folder in (cache, temporary) for file in folder.rglob("*") if file.is_file()]
    assert not large or any(file.suffix == ".history" for file in kept)
    for file in kept:
        assert leaks(file.read_bytes()) == set(), file


def test_agents(log: Path, tmp_path: Path) -> None:
    app = json.loads(pyrometer("sql", log, "SELECT id FROM applications", "--format", "json").out)[0]["id"]
    whats = ["jobs", "stages", "executors", "sql", "failures", "slow_tasks", "timeline", "configuration", "environment"]
    calls: List[Any] = [("list_applications", {}), ("diagnose", {"app": app}), ("compare", {"before": app, "after": app}),
                        ("what_if", {"app": app, "executors": 4}), ("cost", {"app": app}), ("stage", {"app": app, "stage": 0}),
                        ("sql_plan", {"app": app, "execution": 0}), ("diagnose", {"app": "password=none"})]
    calls += [("inspect", {"app": app, "what": what}) for what in whats]
    calls += [("query", {"app": app, "statement": f"SELECT * FROM {table}"}) for table in TABLES]
    questions: List[Dict[str, Any]] = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}]
    questions += [{"jsonrpc": "2.0", "id": i + 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
                  for i, (name, given) in enumerate(calls)]
    asked = tmp_path / "questions"
    asked.write_text("".join(json.dumps(one) + "\n" for one in questions))
    with asked.open("rb") as stdin:
        run = conftest.run_command([str(conftest.binary_path()), "mcp", str(log.parent)], stdin)
    assert len(run.out.splitlines()) == len(questions)
    assert leaks(run.out) == set()
    assert leaks(run.err) == set()


def test_a_growing_log(log: Path, tmp_path: Path) -> None:
    """Read in pieces as it comes: secrets lie across their borders."""
    text = log.read_bytes()[: 1 << 20]
    grown = tmp_path / "logs" / "app.inprogress"
    grown.parent.mkdir()
    start = next(i for i, one in enumerate(text.splitlines(keepends=True)) if b"ApplicationStart" in one)
    head = sum(map(len, text.splitlines(keepends=True)[: start + 1]))
    grown.write_bytes(text[:head])
    with Server(grown.parent, "--update-interval", "100ms") as server:
        app = ids(server)
        for at in range(head, len(text), max(1, len(text) // 7) + 13):
            with grown.open("ab") as file:
                file.write(text[at : at + max(1, len(text) // 7) + 13])
            for path in ("jobs", "stages?details=true", "environment", "sql?details=true&planDescription=true", "allexecutors"):
                assert leaks(server.get(f"applications/{app}/{path}")[2]) == set(), path
            assert leaks(server.request("GET", f"/pyrometer/v1/applications/{app}/-/report")[2]) == set()


def test_spark_alone(log: Path) -> None:
    """--redact spark hides what Spark's own expression finds, and shows the rest."""
    run = conftest.run_command([str(conftest.binary_path()), "sql", str(log), "SELECT key, value FROM properties", "--redact", "spark", "--format", "json"])
    shown = {row["key"]: row["value"] for row in json.loads(run.out)}
    values = {re.sub(r"^spark\.x\d+\.", "", key): value for key, value in shown.items() if key.startswith("spark.x")}
    assert values["my.password"] == values["fs.s3a.access.key"] == "*********(redacted)"
    assert values["db.passwd"] != "*********(redacted)"
