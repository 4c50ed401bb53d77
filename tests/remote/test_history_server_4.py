"""Applications of a History Server of Spark 4: what is read from it is what the logs say, or less where it has less."""

from __future__ import annotations

import json
from typing import Any

import conftest
import pytest
from conftest import run_on_log
from servers.shared import ON_SPARK_4, READ_4, History, sources

pytestmark = ON_SPARK_4
NAMES = [name for name, _ in sources(READ_4)]


def diagnose(*arguments: str) -> Any:
    done = conftest.run_command([str(conftest.binary_path()), "diagnose", "--format", "json", *arguments], limit_s=60)
    assert done.exit == 0, done.explain()
    return done.json


def expected_of(history: History, name: str) -> Any:
    """The report of the file."""
    return run_on_log(history.logs[name]).json


def page(history: History, name: str) -> str:
    return f"{history.server.url}/history/{expected_of(history, name)['application']['id']}"


@pytest.mark.parametrize("name", NAMES)
def test_the_log_is_the_file(spark_4: History, name: str) -> None:
    report, expected = diagnose(page(spark_4, name)), expected_of(spark_4, name)
    assert report["integrity"]["source"]["kind"] == "log"
    for one in (report, expected):
        one["integrity"].pop("source", None)
        del one["source"]
    assert json.dumps(report) == json.dumps(expected)


@pytest.mark.parametrize("name", NAMES)
def test_rest_answers_find_no_more(spark_4: History, name: str) -> None:
    report, expected = diagnose("--remote", "rest", page(spark_4, name)), expected_of(spark_4, name)
    assert report["integrity"]["source"]["kind"] == "rest"
    assert report["integrity"]["bad_lines"] == 0
    assert report["application"]["spark_version"] == expected["application"]["spark_version"]
    assert report["totals"]["jobs"] == expected["totals"]["jobs"] and report["totals"]["stages"] == expected["totals"]["stages"]
    assert {one["id"] for one in report["findings"]} <= {one["id"] for one in expected["findings"]}
