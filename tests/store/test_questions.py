"""Questions to a store: what is refused and why, the documented examples and fields, and answers in pages."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import schemas  # noqa: E402
from cli_command import Command  # noqa: E402

PAGE = ROOT / "docs" / "store-queries.md"
LOGS = [ROOT / "corpus" / "logs" / f"{name}.zst" for name in ("idle_narrow", "skew_rdd", "slow_store_write")]
ROWS = {"from": "runs", "fields": ["app_id"]}
COUNT = {"from": "runs", "measures": [{"as": "n", "op": "count"}]}


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("questions"))


@pytest.fixture(scope="module")
def store(command: Command) -> str:
    url = f"sqlite:{command.folder / 'runs.db'}"
    done = command("diagnose", *LOGS, "-f", "json", "--store", url)
    assert done.returncode == 0, done.stderr
    return url


def ask(command: Command, store: str, question: dict[str, Any], *options: str) -> dict[str, Any]:
    """The answer; question and answer follow their schemas."""
    schemas.check(question, "pyrometer.store_query-1.json")
    done = command("store", "query", store, json.dumps(question), *options)
    assert done.returncode == 0, done.stderr
    return schemas.validate(json.loads(done.stdout))


MISTAKES: list[tuple[Any, str]] = [
    ({"from": "run", "fields": ["app_id"]}, "from: there is no list 'run'; did you mean 'runs'?"),
    ({**ROWS, "wher": []}, "there is no member 'wher'; did you mean 'where'?"),
    ({"from": "runs", "fields": ["app_idd"]}, "fields[0]: 'runs' has no field 'app_idd'; did you mean 'app_id'?"),
    ({"from": "runs", "fields": ["rule"]}, "fields[0]: 'runs' has no field 'rule'"),
    ({"from": "errors", "fields": ["user"]}, "fields[0]: 'errors' has no field 'user'"),
    ({"from": "errors", "fields": ["agg.x"]}, "fields[0]: 'errors' has no field 'agg.x'"),
    ({"from": "runs", "fields": ["agg."]}, "fields[0]: 'runs' has no field 'agg.'"),
    ({"from": "runs", "fields": []}, "fields: 0 elements where 1 to 64 may be"),
    ({"from": "runs", "fields": ["app_id"] * 65}, "fields: 65 elements where 1 to 64 may be"),
    ({"from": "runs", "fields": ["app_id", "app_id"]}, "two columns of the answer are called 'app_id'"),
    ({"from": "runs", "fields": [1]}, "fields[0]: a text was expected"),
    ({"from": "runs"}, "it needs either 'measures' or 'fields'"),
    ({**ROWS, "measures": COUNT["measures"]}, "it needs either 'measures' or 'fields'"),
    ({**ROWS, "group": [{"field": "user"}]}, "group: groups need 'measures', not 'fields'"),
    ({**ROWS, "limit": 0}, "limit: a whole number of 1 to 100000 was expected"),
    ({**ROWS, "limit": 1.5}, "limit: a whole number of 1 to 100000 was expected"),
    ({**ROWS, "limit": "1"}, "limit: a number was expected"),
    ({**ROWS, "after": "00"}, "after: it is not from an answer to this question"),
    ({**ROWS, "order": {"by": "name"}}, "order: there is no column of the answer called 'name'"),
    ({**ROWS, "order": {"by": "app_id", "desc": True}}, "order: there is no member 'desc'; did you mean 'descending'?"),
    ({**ROWS, "order": {"by": "app_id", "descending": 1}}, "order.descending: true or false was expected"),
    ({**ROWS, "where": {}}, "where: an array was expected"),
    ({**ROWS, "where": [{"field": "user", "op": "=="}]}, "where[0].op: there is no operation '=='; did you mean '='?"),
    ({**ROWS, "where": [{"field": "user", "op": "="}]}, "where[0].value: it is missing"),
    ({**ROWS, "where": [{"field": "user", "op": "=", "value": 1}]}, "where[0].value: a text was expected"),
    ({**ROWS, "where": [{"field": "user", "op": "=", "value": None}]}, "where[0].value: a text was expected"),
    ({**ROWS, "where": [{"field": "start_ms", "op": ">", "value": "x"}]}, "where[0].value: a number was expected"),
    ({**ROWS, "where": [{"field": "start_ms", "op": "prefix", "value": "x"}]}, "where[0].op: 'start_ms' is a number"),
    ({**ROWS, "where": [{"field": "user", "op": "in", "value": []}]}, "where[0].value: 0 elements where 1 to 1000 may be"),
    ({**ROWS, "where": [{"field": "user", "op": "exists", "value": "yes"}]}, "where[0].value: true or false was expected"),
    ({**ROWS, "where": [{"field": "start_ms", "op": "=", "value": 10**30}]}, "where[0].value: the number is too large"),
    ({**COUNT, "group": [{"field": "user", "every_ms": 5}]}, "group[0].field: 'user' is a text; a field of numbers was expected"),
    ({**COUNT, "group": [{"field": "start_ms", "every_ms": 0}]}, "group[0].every_ms: a whole number of 1 to"),
    ({**COUNT, "group": [{"field": "start_ms", "edges": [1, 1]}]}, "group[0].edges[1]: the numbers must ascend"),
    ({**COUNT, "group": [{"field": "start_ms", "edges": [1]}]}, "group[0].edges: 1 elements where 2 to 1000 may be"),
    ({**COUNT, "group": [{"field": "start_ms", "edges": [1, 2], "every_ms": 5}]}, "group[0]: 'every_ms' and 'edges' exclude each other"),
    ({**COUNT, "group": [{"field": "user"}] * 3}, "group: 3 elements where 0 to 2 may be"),
    ({"from": "runs", "measures": [{"as": "x", "op": "avg", "field": "core_ms"}]}, "measures[0].op: there is no operation 'avg'"),
    ({"from": "runs", "measures": [{"as": "x", "op": "sum"}]}, "measures[0].field: it is missing"),
    ({"from": "runs", "measures": [{"as": "x", "op": "sum", "field": "user"}]}, "measures[0].field: 'user' is a text"),
    ({"from": "runs", "measures": [{"op": "count"}]}, "measures[0].as: it is missing"),
    ({"from": "runs", "measures": [{"as": "x", "op": "min", "field": "core_ms", "weight": "core_ms"}]}, "measures[0].weight: only sum and mean"),
    ({"from": "runs", "measures": [{"as": "x", "op": "max", "field": "core_ms", "at": [5]}]}, "measures[0].at: only percentiles have it"),
    ({"from": "runs", "measures": [{"as": "x", "op": "percentiles", "field": "core_ms"}]}, "measures[0].at: it is missing"),
    ({"from": "runs", "measures": [{"as": "x", "op": "percentiles", "field": "core_ms", "at": [101]}]}, "measures[0].at: percentiles are numbers of 0 to 100"),
    ({"from": "runs", "fields": [f"tag.t{i}" for i in range(41)]}, "more than 40 names of agg., property. and tag."),
    ({**ROWS, "schema": "pyrometer.store_query/2"}, "schema: it is not pyrometer.store_query/1"),
    ([], "an object was expected"),
    ('{"from": "runs", "from": "runs", "fields": ["app_id"]}', "from: it is given twice"),
    ('{"from": "runs", "fields": ["app_id"]', "not valid JSON at byte 37"),
    ('{"from": "runs", "fields": ["app\n_id"]}', "not valid JSON at byte 32"),
    ('{"from": "runs", "fields": ["app_id"]} x', "not valid JSON at byte 39"),
    ("", "an object was expected"),
]


@pytest.mark.parametrize("question, message", MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_are_named(command: Command, store: str, question: Any, message: str) -> None:
    text = question if isinstance(question, str) else json.dumps(question)
    done = command("store", "query", store, text)
    assert done.returncode == 2 and done.stdout == "", done.stdout
    assert message in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


def test_wrong_commands_are_explained(command: Command, store: str, tmp_path: Path) -> None:
    assert "give 'store query STORE QUESTION'" in command("store", "query", store).stderr
    assert "did you mean 'query'?" in command("store", "qery", store, "{}").stderr
    assert command("store", "query", store, json.dumps(ROWS), "--groups", "x").returncode == 2
    missing = tmp_path / "missing.db"
    assert command("store", "query", f"sqlite:{missing}", json.dumps(ROWS)).returncode == 3
    assert not missing.exists()


def test_a_question_may_have_lines(command: Command, store: str) -> None:
    pretty = command("store", "query", store, json.dumps(ROWS, indent=4).replace("\n", "\r\n\t"))
    assert pretty.returncode == 0 and json.loads(pretty.stdout) == ask(command, store, ROWS)


def examples() -> list[dict[str, Any]]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)]


@pytest.mark.parametrize("question", examples(), ids=range(len(examples())))
def test_the_documented_examples_are_answered(command: Command, store: str, question: dict[str, Any]) -> None:
    answer = ask(command, store, question)
    names = [one["field"] for one in question.get("group", [])] + question.get("fields", [])
    assert answer["columns"][: len(names)] == names


def test_the_page_has_every_field() -> None:
    table = (ROOT / "src" / "store" / "query_fields.def").read_text(encoding="utf-8")
    lists = re.findall(r'^PYRO_QUERY_FROM\((\w+), "(\w+)", "\w+", \w+, "(.*)"\)$', table, re.M)
    fields = re.findall(r'^PYRO_QUERY_FIELD\((\w+), (\w+), (\w+), "(.*)"\)$', table, re.M)
    expected = []
    for identifier, name, meaning in lists:
        expected += [f"### {name}", "", f"{meaning[0].upper()}{meaning[1:]}.", "", "| field | type | meaning |", "| --- | --- | --- |"]
        for owner, field, kind, what in fields:
            if owner == identifier:
                expected.append(f"| `{field}` | {kind.lower()} | {what[0].upper()}{what[1:]}. |")
        expected.append("")
    written = PAGE.read_text(encoding="utf-8").split("## Lists and their fields\n\n")[1]
    assert written.rstrip("\n").split("\n") == expected[:-1]
    schema = schemas.schemas()["pyrometer.store_query-1.json"]
    assert schema["properties"]["from"]["enum"] == [name for _, name, _ in lists]
