"""What the server answers about text logs and profiles of a run, against the command."""

from __future__ import annotations

import http.client
import json
import shutil
import xml.etree.ElementTree
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
import schemas
from servers.pyrometer import Server

import conftest

ARTEFACTS = conftest.ROOT / "tests" / "artefacts"
LOGS = ARTEFACTS / "logs" / "iso"
PROFILES = ARTEFACTS / "profiles"


class Run:
    """A run with text logs and profiles, served."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        (self.app,) = [one["id"] for one in json.loads(self.ask("applications")[2])["applications"]]

    def ask(self, path: str, **headers: str) -> Tuple[int, Dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
        try:
            connection.request("GET", f"/pyrometer/v1/{path}", headers=headers)
            response = connection.getresponse()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Tuple[int, Dict[str, str], bytes]:
        return self.ask(f"applications/{self.app}/-/{path}", **headers)

    def document(self, path: str) -> Any:
        status, _, body = self.get(path)
        assert status == 200, body
        document = json.loads(body)
        return schemas.check(document, f"{document['schema'].replace('/', '-')}.json")

    def paths(self, kind: str) -> List[str]:
        rows = self.document("report")["profiling"]["artefacts"]
        return [one["path"] for one in rows if one["kind"] == kind]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("served") / "run"
    shutil.copytree(LOGS, folder)
    for name in ("async.jfr.gz", "jdk17.jfr.gz"):
        shutil.copy(PROFILES / name, folder)
    with Server(folder) as server:
        yield Run(folder, server)


def command(binary: str, *arguments: str) -> bytes:
    done = conftest.run_command([binary, *arguments])
    assert done.exit == 0, done.explain()
    return done.out


QUESTIONS = [
    ("errors", "", ()),
    ("errors", "?level=error&executor=1", ("--level", "error", "--executor", "1")),
    ("errors", "?grep=ClassNotFound&limit=1", ("--grep", "ClassNotFound", "-n", "1")),
    ("errors", "?since=2030-01-01T00:00:00", ("--since", "2030-01-01T00:00:00")),
    ("top", "", ()),
    ("top", "?by=container&limit=3", ("--by", "container", "-n", "3")),
    ("top", "?level=warn", ("--level", "warn")),
    ("timeline", "", ()),
    ("timeline", "?stage=1", ("--stage", "1")),
]


@pytest.mark.parametrize("verb, query, options", QUESTIONS)
def test_logs_are_those_of_the_command(binary: str, run: Run, verb: str, query: str, options: Tuple[str, ...]) -> None:
    logs = run.paths("text-log")
    assert len(logs) == 5
    served = run.document(f"logs/{verb}{query}")
    assert served == json.loads(command(binary, "logs", verb, "-f", "json", *options, *logs))
    assert served["records"] > 100


@pytest.mark.parametrize("query, options", [("", ()), ("&event=alloc", ("--event", "alloc")), ("&merge-lines=true", ("--merge-lines",))])
def test_flame_graphs_are_those_of_the_command(binary: str, run: Run, tmp_path: Path, query: str, options: Tuple[str, ...]) -> None:
    for form, name in (("folded", "x.folded"), ("svg", "x.svg"), ("speedscope", "x.speedscope.json")):
        command(binary, "flame", *options, *run.paths("jfr"), "-o", str(tmp_path / name))
        status, _, body = run.get(f"flame?format={form}{query}")
        assert status == 200 and body == (tmp_path / name).read_bytes()


def test_flame_graphs_of_a_stage_use_the_event_log(binary: str, tmp_path: Path) -> None:
    riddle = conftest.ROOT / "corpus" / "riddles" / "logs" / "slacker_jvm" / "faulty"
    command(binary, "flame", "--stage", "0", "--event", "wait", str(riddle), "-o", str(tmp_path / "x.folded"))
    with Server(riddle) as server:
        served = Run(riddle, server)
        status, _, body = served.get("flame?format=folded&stage=0&event=wait")
        assert status == 200 and body == (tmp_path / "x.folded").read_bytes()
        status, _, body = served.get("flame?format=folded&task=3&event=wait")
        assert status == 422 and "no sample" in json.loads(body)["error"]["message"]


@pytest.mark.parametrize("query, options", [("", ()), ("?metric=heap", ("--metric", "heap")), ("?process=1", ("--process", "1"))])
def test_profiles_are_those_of_the_command(binary: str, run: Run, query: str, options: Tuple[str, ...]) -> None:
    served = run.document(f"profile{query}")
    assert served == json.loads(command(binary, "profile", str(run.folder), "-f", "json", *options))
    assert served["processes"] and served["tasks"]


def test_pictures_are_kept_apart(run: Run) -> None:
    status, headers, body = run.get("flame")
    assert status == 200 and headers["content-type"] == "image/svg+xml"
    assert xml.etree.ElementTree.fromstring(body).tag.endswith("svg")
    policy = headers["content-security-policy"]
    assert "sandbox allow-scripts;" in policy and "frame-ancestors 'self'" in policy and "default-src 'none'" in policy
    assert "allow-same-origin" not in policy


def test_unchanged_answers_are_not_sent_again(run: Run) -> None:
    for path in ("logs/errors", "logs/top?by=stage", "flame?format=folded"):
        status, headers, _ = run.get(path)
        assert status == 200
        assert run.get(path, **{"If-None-Match": headers["etag"]})[0] == 304


@pytest.mark.parametrize(
    "path, word",
    [
        ("logs/errors?level=loud", "level"),
        ("logs/errors?since=yesterday", "time"),
        ("logs/errors?grep=(", "regular expression"),
        ("logs/errors?limit=0", "limit"),
        ("logs/top?by=color", "container"),
        ("logs/timeline?grep=x", "grep"),
        ("profile?process=nobody", "nobody"),
        ("flame?format=png", "svg"),
        ("flame?event=sleep", "alloc"),
        ("flame?stage=x", "stage"),
    ],
)
def test_wrong_parameters(run: Run, path: str, word: str) -> None:
    status, _, body = run.get(path)
    assert status == 400 and json.loads(body)["error"]["code"] == "bad_request"
    assert word in json.loads(body)["error"]["message"]


def test_samples_that_are_not_there(run: Run) -> None:
    status, headers, body = run.get("flame?from=4000000000000")
    assert status == 422 and headers["content-type"] == "application/json", body
    assert "no sample" in json.loads(body)["error"]["message"]


def test_runs_without_such_files(tmp_path: Path) -> None:
    shutil.copy(LOGS / "events.zst", tmp_path)
    with Server(tmp_path) as server:
        alone = Run(tmp_path, server)
        for path in ("logs/errors", "logs/top", "logs/timeline", "profile", "flame"):
            status, _, body = alone.get(path)
            assert status == 404 and "next to its event log" in json.loads(body)["error"]["message"]


def test_files_that_became_links_are_not_read(tmp_path: Path) -> None:
    folder, outside = tmp_path / "run", tmp_path / "outside.log"
    folder.mkdir()
    shutil.copy(LOGS / "events.zst", folder)
    line = "2026-11-23 19:44:50 ERROR Job:10 - {0} failed\n"
    log = folder / "driver.log"
    log.write_text(line.format("first") * 3, "ascii")
    outside.write_text(line.format("hidden") * 3, "ascii")
    with Server(folder, "--update-interval", "1d") as server:
        served = Run(folder, server)
        assert b"first failed" in served.get("logs/errors")[2]
        log.unlink()
        log.symlink_to(outside)
        status, _, body = served.get("logs/errors")
        assert status == 404 and b"hidden" not in body
