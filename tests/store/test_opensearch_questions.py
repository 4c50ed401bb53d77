"""Questions to OpenSearch that need many documents, odd names or odd texts; all others are in test_backends.py."""

from __future__ import annotations

import json
import math
import random
import sys
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import conftest
import pytest
from servers import opensearch
from servers.shared import ON_OPENSEARCH

sys.path.insert(0, str(conftest.ROOT / "tests" / "cli"))

from cli_command import Command  # noqa: E402

pytestmark = ON_OPENSEARCH
PREFIX, COUNT = "many", 12000
LOG = conftest.ROOT / "corpus" / "logs" / "straggler.zst"
KEY = 'odd.(key)[0-9]+{"a"}|~@<x>&#^$\\'
Ask = Callable[..., Any]


def values() -> List[float]:
    chance = random.Random(18)
    return [chance.lognormvariate(3, 2) for _ in range(COUNT)]


@pytest.fixture(scope="module")
def node(opensearch_node: opensearch.Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[opensearch.Node]:
    """With many numbers of a cluster, and runs with odd properties."""
    command = Command(tmp_path_factory.mktemp("many"))
    assert command("diagnose", LOG, "--store", f"opensearch:{opensearch_node.url}/{PREFIX}").returncode == 0
    lines: List[Any] = []
    for place, value in enumerate(values()):
        document = {"kind": "cluster", "source": "rm", "name": f"n{place:05}", "time_ms": 1767225600000 + place // 7, "number": value}
        lines += [{"index": {"_index": f"{PREFIX}-rows"}}, document]
    (run,) = [hit["_source"] for hit in opensearch_node.call("POST", f"/{PREFIX}-agg/_search", {"size": 1}).json["hits"]["hits"]]
    for place, value in enumerate(["a=b", "", "ä", "x" * 9000, None]):
        own = [f"{KEY}x=no", "odd=" + str(place)] + ([f"{KEY}={value}"] if value is not None else [])
        lines += [{"index": {"_index": f"{PREFIX}-agg"}}, {**run, "app_id": f"odd-{place}", "properties": own, "name": "odd"}]
    for app_id, text in (("short", {"raw": "x"}), ("long", {"raw": "x" * 9000, "long": "raw"}), ("none", {})):
        lines += [{"index": {"_index": f"{PREFIX}-err"}}, {"kind": "error", "app_id": app_id, "time_ms": 1, **text}]
    answer = opensearch_node.call("POST", "/_bulk?refresh=true", lines)
    assert answer.status == 200 and not answer.json["errors"]
    yield opensearch_node
    opensearch_node.remove(PREFIX)


@pytest.fixture(scope="module")
def ask(node: opensearch.Node, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    command = Command(tmp_path_factory.mktemp("asked"))

    def run(question: Dict[str, Any], exit: int = 0) -> Any:
        for _ in range(3):
            done = command("store", "query", f"opensearch:{node.url}/{PREFIX}", json.dumps(question))
            if "took longer than" not in done.stderr:
                break  # else the machine is busy: what is asked takes a second
        assert done.returncode == exit, done.stdout[-500:] + done.stderr
        return json.loads(done.stdout) if exit == 0 else done.stderr

    return run


def test_percentiles_of_many_are_near(ask: Ask) -> None:
    at = [0, 1, 25, 50, 75, 95, 99, 99.9, 100]
    (row,) = ask({"from": "cluster", "measures": [{"as": "p", "op": "percentiles", "field": "value", "at": at}]})["rows"]
    known = sorted(values())
    for percent, found in zip(at, row):
        rank, slack = max(math.ceil(percent * COUNT / 100), 1) - 1, math.ceil(0.005 * COUNT)
        assert known[max(rank - slack, 0)] <= found <= known[min(rank + slack, COUNT - 1)], percent
    assert row != [known[max(math.ceil(percent * COUNT / 100), 1) - 1] for percent in at], "these are estimates"


def test_sums_of_many(ask: Ask) -> None:
    measures = [{"as": op, "op": op, "field": "value"} for op in ("sum", "min", "max", "mean")]
    (row,) = ask({"from": "cluster", "measures": measures})["rows"]
    expected = [math.fsum(values()), min(values()), max(values()), math.fsum(values()) / COUNT]
    assert all(math.isclose(one, other, rel_tol=1e-9) for one, other in zip(row, expected))


@pytest.mark.parametrize("group", [["name"], ["name", "source"], ["source", "name"], [{"field": "value", "every_ms": 1}, "name"]])
def test_too_many_groups(ask: Ask, group: List[Any]) -> None:
    levels = [one if isinstance(one, dict) else {"field": one} for one in group]
    said = ask({"from": "cluster", "group": levels, "measures": [{"as": "n", "op": "count"}]}, exit=2)
    assert "more than 10000 groups" in said and "every_ms" in said


def test_ten_thousand_groups(ask: Ask) -> None:
    question = {"from": "cluster", "where": [{"field": "name", "op": "<", "value": "n10000"}], "group": [{"field": "name"}],
                "measures": [{"as": "n", "op": "count"}, {"as": "v", "op": "max", "field": "value"}], "order": {"by": "v", "descending": True}, "limit": 3}
    page = ask(question)
    assert [row[2] for row in page["rows"]] == sorted(values()[:10000], reverse=True)[:3]
    assert ask({**question, "after": page["after"]})["rows"][0][2] == sorted(values()[:10000], reverse=True)[3]


@pytest.mark.parametrize("order", [{}, {"by": "value"}, {"by": "name", "descending": True}])
def test_rows_in_many_pages(ask: Ask, order: Dict[str, Any]) -> None:
    question = {"from": "cluster", "fields": ["name", "value"], "order": order, "limit": 5001}
    rows: List[Any] = []
    while True:
        page = ask({**question, **({"after": rows[-1]} if rows and isinstance(rows[-1], str) else {})})
        rows = [row for row in rows if not isinstance(row, str)] + page["rows"]
        if not page["after"]:
            break
        rows.append(page["after"])
    expected = [[f"n{place:05}", value] for place, value in enumerate(values())]
    if order:
        expected.sort(key=lambda row: row[order["by"] == "value"], reverse=order.get("descending", False))
    assert rows == expected


def test_odd_properties(ask: Ask) -> None:
    field = f"property.{KEY}"
    odd = [{"field": "name", "op": "=", "value": "odd"}]
    rows = ask({"from": "runs", "fields": ["app_id", field], "where": odd, "order": {"by": "app_id"}})["rows"]
    assert [row[1] for row in rows] == ["a=b", "", "ä", "x" * 9000, None]
    for op, value, expected in (
        ("=", "a=b", ["odd-0"]), ("=", "", ["odd-1"]), ("prefix", "a", ["odd-0"]), ("prefix", "", ["odd-0", "odd-1", "odd-2"]),
        ("<", "b", ["odd-0", "odd-1"]), (">", "b", ["odd-2"]), (">=", "ä", ["odd-2"]), ("in", ["ä", "a"], ["odd-2"]),
        ("!=", "a=b", ["odd-1", "odd-2", "odd-3", "odd-4"]), ("exists", True, ["odd-0", "odd-1", "odd-2"]),
    ):
        asked = {"from": "runs", "fields": ["app_id"], "where": [*odd, {"field": field, "op": op, "value": value}], "order": {"by": "app_id"}}
        assert [row[0] for row in ask(asked)["rows"]] == expected, (op, value)
    groups = ask({"from": "runs", "where": odd, "group": [{"field": field}], "measures": [{"as": "n", "op": "count"}]})["rows"]
    assert groups == [[None, 2], ["", 1], ["a=b", 1], ["ä", 1]]  # a text that is too long is as one that is not known


def test_names_that_are_patterns_find_nothing(ask: Ask) -> None:
    for name in ("agg.*", "agg.stages", "agg.stages.*.max"):
        asked = {"from": "runs", "fields": ["app_id"], "where": [{"field": name, "op": "exists", "value": True}]}
        assert ask(asked)["rows"] == [], name


def test_long_texts_are_shown_and_exist(ask: Ask) -> None:
    rows = ask({"from": "errors", "fields": ["app_id", "raw"]})["rows"]
    assert rows == [["long", "x" * 9000], ["none", None], ["short", "x"]]
    for op, value, expected in (("exists", True, ["long", "short"]), ("exists", False, ["none"]), ("prefix", "x", ["short"])):
        where = [{"field": "raw", "op": op, "value": value}]
        assert [row[0] for row in ask({"from": "errors", "fields": ["app_id"], "where": where})["rows"]] == expected, op
