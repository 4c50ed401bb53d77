"""Spark's own History Server suite: its requests, its logs, its answers, against `pyrometer serve`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterator, List, Tuple

import pytest
from servers.pyrometer import Server

import conftest

CASES = Path(__file__).parent / "spark_history_cases.tsv"

# What is not answered as Spark does yet, and why. A case that begins to pass must leave this list (strict).
NOT_YET: dict[str, str] = {}


def cases() -> List[Any]:
    rows = [line.split("\t") for line in CASES.read_text(encoding="utf-8").splitlines() if line]
    return [
        pytest.param(
            name,
            request,
            id=name.replace("_expectation.json", ""),
            marks=[pytest.mark.xfail(reason=NOT_YET[name], strict=True)] if name in NOT_YET else [],
        )
        for name, request in rows
    ]


def without_updates(value: Any) -> Any:
    """The answer without the times at which logs were last written, which Spark's suite leaves out too."""
    if isinstance(value, dict):
        return {key: without_updates(one) for key, one in value.items() if not key.startswith("lastUpdated")}
    if isinstance(value, list):
        return [without_updates(one) for one in value]
    return value


@pytest.fixture(scope="module")
def suite() -> Iterator[Tuple[Server, Path]]:
    folder, reason = conftest.spark_tests()
    if folder is None:
        pytest.skip(reason)
    with Server(folder / "spark-events") as server:
        yield server, folder / "HistoryServerExpectations"


def test_all_cases_are_there() -> None:
    assert len(cases()) == 60


@pytest.mark.parametrize("name, request_path", cases())
def test_answer(suite: Tuple[Server, Path], name: str, request_path: str) -> None:
    server, expectations = suite
    status, kind, body = server.get(request_path)
    assert (status, kind) == (200, "application/json"), body[:300]
    expected = json.loads((expectations / name).read_text(encoding="utf-8"))
    assert without_updates(json.loads(body)) == without_updates(expected)


@pytest.mark.parametrize(
    "path, status, text",
    [
        ("applications/foobar", 404, "unknown app: foobar"),
        ("applications/foobar/jobs", 404, "no such app: foobar"),
        ("applications/local-1426533911241/jobs", 404, "no such app: local-1426533911241"),
        ("applications/local-1422981780767/stages/12345", 404, "unknown stage: 12345"),
        ("applications/local-1422981780767/stages/1/1", 404, "unknown attempt for stage 1.  Found attempts: [0]"),
        ("applications/local-1422981780767/jobs/12345", 404, "unknown job: 12345"),
        (
            "applications/local-1422981780767/stages/0/0/taskSummary?quantiles=foo,0.1",
            400,
            'Bad value for parameter "quantiles".  Expected a double, got "foo"',
        ),
        ("applications?minDate=yesterday", 400, "Couldn't parse date: yesterday"),
    ],
)
def test_error(suite: Tuple[Server, Path], path: str, status: int, text: str) -> None:
    found, kind, body = suite[0].get(path)
    assert (found, body.decode()) == (status, text)
    assert kind == ("application/json" if path.startswith("applications?") else "text/plain")


@pytest.mark.parametrize("path", ["foobar", "applications/local-1422981780767/stages/flimflam", "applications?limit=x"])
def test_unknown_path(suite: Tuple[Server, Path], path: str) -> None:
    assert suite[0].get(path)[0] == 404


def test_layout_is_jacksons(suite: Tuple[Server, Path]) -> None:
    """Byte for byte, where only the order of members and the times of files are left to differ."""
    server, expectations = suite
    _, _, body = server.get("applications/local-1422981780767/jobs")
    wanted = (expectations / "job_list_json_expectation.json").read_text(encoding="utf-8").strip()
    assert re.sub(r"\s*:\s*", ":", body.decode()) == re.sub(r"\s*:\s*", ":", wanted)
