"""Applications of a History Server of Spark 4: what is read from it is what the logs say, or less where it has less."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

import conftest
import pytest
import spark_servers
import zstandard

pytestmark = pytest.mark.slow

VERSION = "4.3.0"
CORPUS = ("data_skew", "executor_lost", "oom_groups")  # of Spark 3.5, with tasks that failed
LOGS = conftest.ROOT / "tests" / "logs" / "versions"
Served = Tuple[spark_servers.Server, Dict[str, Any]]


def diagnose(*arguments: str) -> Any:
    done = conftest.run_command([str(conftest.binary_path()), "diagnose", "--format", "json", *arguments], limit_s=60)
    assert done.exit == 0, done.explain()
    return done.json


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    venv, reason = spark_servers.spark_venv(VERSION)
    if venv is None:
        pytest.skip(reason)
    work = tmp_path_factory.mktemp("history")
    folder = work / "events"
    folder.mkdir()
    paths = {}
    for name in CORPUS:
        paths[name] = folder / name
        packed = (conftest.ROOT / "corpus" / "logs" / f"{name}.zst").read_bytes()
        paths[name].write_bytes(zstandard.ZstdDecompressor().decompressobj().decompress(packed))
    for log in conftest.log_paths(LOGS):
        paths[log.parent.name] = folder / log.name
        os.symlink(log, folder / log.name)
    diagnoses = {name: diagnose(str(path)) for name, path in paths.items()}
    with spark_servers.history_server(venv, folder, work, len(paths)) as server:
        yield server, diagnoses


def names() -> Any:
    return [*CORPUS, *(path.parent.name for path in conftest.log_paths(LOGS))]


def page(served: Served, name: str) -> str:
    server, diagnoses = served
    return f"{server.url}/history/{diagnoses[name]['application']['id']}"


@pytest.mark.parametrize("name", names())
def test_the_log_is_the_file(served: Served, name: str) -> None:
    report, expected = diagnose(page(served, name)), json.loads(json.dumps(served[1][name]))
    assert report["integrity"]["source"]["kind"] == "log"
    for one in (report, expected):
        one["integrity"].pop("source", None)
        del one["source"]
    assert report == expected


@pytest.mark.parametrize("name", names())
def test_rest_answers_find_no_more(served: Served, name: str) -> None:
    report, expected = diagnose("--remote", "rest", page(served, name)), served[1][name]
    assert report["integrity"]["source"]["kind"] == "rest"
    assert report["integrity"]["bad_lines"] == 0
    assert report["application"]["spark_version"] == expected["application"]["spark_version"]
    assert report["totals"]["jobs"] == expected["totals"]["jobs"] and report["totals"]["stages"] == expected["totals"]["stages"]
    assert {one["id"] for one in report["findings"]} <= {one["id"] for one in expected["findings"]}
