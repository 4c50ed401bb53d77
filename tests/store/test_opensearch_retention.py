"""What a store in a real OpenSearch forgets: the same as one in SQLite, also where it was interrupted."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import schemas  # noqa: E402
from cli_command import Command  # noqa: E402
from fleet_logs import DAY_MS, FIRST_MS, write_fleet  # noqa: E402
from servers import opensearch  # noqa: E402
from servers.between import Between  # noqa: E402
from servers.shared import ON_OPENSEARCH  # noqa: E402

pytestmark = ON_OPENSEARCH
RUNS = 12  # of the fleet, in five days
LISTS = ("runs", "findings", "usage", "allocations", "advice")
COUNT = [{"as": "n", "op": "count"}]
DAYS = {"from": "days", "fields": ["application", "time_ms", "runs", "completed", "duration_ms", "core_ms", "input_bytes"]}
IDS = {"from": "runs", "fields": ["app_id", "attempt"]}


class Twins(NamedTuple):
    """One fleet in two stores."""

    command: Command
    node: opensearch.Node
    prefix: str
    urls: List[str]  # SQLite, OpenSearch

    def both(self, *arguments: str) -> List[Dict[str, Any]]:
        return [run(self.command, *arguments[:1], url, *arguments[1:]) for url in self.urls]

    def documents(self, index: str) -> int:
        self.node.call("POST", f"/{self.prefix}-{index}/_refresh")
        return int(self.node.call("GET", f"/{self.prefix}-{index}/_count").json["count"])


def run(command: Command, verb: str, url: str, *options: str) -> Dict[str, Any]:
    done = command("store", verb, url, *options)
    assert done.returncode == 0, done.stderr
    return schemas.validate(json.loads(done.stdout))


def ago(days: float) -> str:
    """The age of what started this many days after the first run."""
    return f"{(time.time() * 1000 - FIRST_MS - days * DAY_MS) / 1000:.0f}s"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> List[Path]:
    return write_fleet(tmp_path_factory.mktemp("fleet"))


@pytest.fixture
def twins(tmp_path: Path, fleet: List[Path], opensearch_node: opensearch.Node, index_prefix: str) -> Twins:
    command = Command(tmp_path)
    *logs, broken = fleet
    urls = [f"sqlite:{tmp_path / 'runs.db'}", f"opensearch:{opensearch_node.url}/{index_prefix}"]
    for url in urls:
        assert command("diagnose", *logs[:RUNS], broken, "-f", "json", "--store", url).returncode == 0
        assert command("diagnose", logs[1], "-f", "json", "--store", url, "--name", "good").returncode == 0
    return Twins(command, opensearch_node, index_prefix, urls)


def same(twins: Twins, question: Dict[str, Any]) -> Dict[str, Any]:
    one, other = twins.both("query", json.dumps(question))
    assert one == other
    return one


def test_both_kinds_forget_alike(twins: Twins) -> None:
    limits = ["--keep", ago(4), "--keep-aggregates", ago(2)]
    dry = twins.both("prune", *limits, "--dry-run")
    done = twins.both("prune", *limits)
    for key in ("reports", "aggregates"):
        assert len({one[key]["runs"] for one in dry + done}) == 1 and done[0][key]["runs"] > 2
    days = same(twins, DAYS)["rows"]
    assert sum(day[2] for day in days) == done[0]["aggregates"]["runs"] and len({day[1] for day in days}) == 2
    kept = same(twins, IDS)["rows"]
    assert len(kept) == RUNS - done[0]["aggregates"]["runs"]
    for name in LISTS:
        same(twins, {"from": name, "group": [{"field": "app_id"}], "measures": COUNT})
    assert twins.documents("raw") == len(kept) - done[0]["reports"]["runs"]
    again = twins.both("prune", *limits)
    assert {one["aggregates"]["runs"] for one in again} == {one["reports"]["runs"] for one in again} == {0}
    assert same(twins, DAYS)["rows"] == days


def test_an_interrupted_one_counts_nothing_twice(twins: Twins) -> None:
    url = twins.urls[1]
    blocked = f"/{twins.prefix}-agg/_settings"
    assert twins.node.call("PUT", blocked, {"index.blocks.write": True}).status == 200
    done = twins.command("store", "prune", url, "--keep-aggregates", ago(2))
    assert done.returncode == 4 and "cannot be written" in done.stderr
    assert len(run(twins.command, "query", url, json.dumps(IDS))["rows"]) == RUNS
    assert run(twins.command, "query", url, json.dumps(DAYS))["rows"]  # the runs are already added to their days
    assert twins.node.call("PUT", blocked, {"index.blocks.write": False}).status == 200
    twins.both("prune", "--keep-aggregates", ago(2))
    assert same(twins, DAYS)["rows"]
    twins.both("prune", "--keep-aggregates", ago(3))
    assert same(twins, DAYS)["rows"] and same(twins, IDS)["rows"]


def test_days_count_a_run_once(twins: Twins) -> None:
    """Two were interrupted, the later one of which had less to do; then two work at the same time."""
    url = twins.urls[1]
    named = {"script": {"source": "ctx._source.application='one'"}}
    assert twins.node.call("POST", f"/{twins.prefix}-agg/_update_by_query?refresh=true", named).json["updated"] == RUNS
    for block in (True, False):
        assert twins.node.call("PUT", f"/{twins.prefix}-agg/_settings", {"index.blocks.write": block}).status == 200
        for days in (2, 1.6) if block else ():
            assert twins.command("store", "prune", url, "--keep-aggregates", ago(days)).returncode == 4

    def at_once(path: str) -> Optional[int]:
        if "_delete_by_query" in path and len([one for one in between.paths if "_delete_by_query" in one]) == 1:
            assert run(twins.command, "prune", url, "--keep-aggregates", ago(2))["aggregates"]["runs"] > 2
        return None

    with Between(twins.node.url, before=at_once) as between:
        done = run(twins.command, "prune", f"opensearch:{between.url}/{twins.prefix}", "--keep-aggregates", ago(2))
    assert done["aggregates"]["runs"] == 0
    gone = RUNS - len(run(twins.command, "query", url, json.dumps(IDS))["rows"])
    days = run(twins.command, "query", url, json.dumps(DAYS))["rows"]
    assert gone > 2 and sum(day[2] for day in days) == gone and max(day[2] for day in days) > 1
    query = {"size": 100, "query": {"term": {"kind": "day"}}}
    hits = twins.node.call("POST", f"/{twins.prefix}-rows/_search", query).json["hits"]["hits"]
    assert [hit["_source"]["counted"] for hit in hits] == [[]] * len(days)


@pytest.mark.parametrize("known", [False, True], ids=["new days", "days that are known"])
def test_two_at_one_instant_count_a_run_once(known: bool, twins: Twins) -> None:
    """The other one removes the runs, and forgets their names, when this one is about to add them to their day."""
    url = twins.urls[1]
    named = {"script": {"source": "ctx._source.application='one'"}}
    assert twins.node.call("POST", f"/{twins.prefix}-agg/_update_by_query?refresh=true", named).json["updated"] == RUNS
    if known:
        assert run(twins.command, "prune", url, "--keep-aggregates", ago(0.6))["aggregates"]["runs"] > 0
    others: List[Dict[str, Any]] = []

    def at_once(path: str) -> Optional[int]:
        if not others and ("/_create/" in path or "/_update/" in path):
            others.append({})
            others.append(run(twins.command, "prune", url, "--keep-aggregates", ago(2)))
        return None

    with Between(twins.node.url, before=at_once) as between:
        done = run(twins.command, "prune", f"opensearch:{between.url}/{twins.prefix}", "--keep-aggregates", ago(2))
    assert done["aggregates"]["runs"] == 0 and others[1]["aggregates"]["runs"] > 1
    assert (sum("/_update/" in path for path in between.paths) == 1) == known
    gone = RUNS - len(run(twins.command, "query", url, json.dumps(IDS))["rows"])
    days = run(twins.command, "query", url, json.dumps(DAYS))["rows"]
    assert sum(day[2] for day in days) == gone and max(day[2] for day in days) > 1


def test_errors_and_sizes(twins: Twins) -> None:
    url = twins.urls[1]
    found = run(twins.command, "stat", url)
    tables = {one["name"]: one for one in found["tables"]}
    assert list(tables) == ["raw", "agg", "err", "rows", "work"] and found["runs"] == tables["agg"]["rows"] == RUNS
    assert found["bytes"] == sum(one["bytes"] for one in tables.values()) > 0
    starts = [row[0] for row in run(twins.command, "query", url, json.dumps({"from": "runs", "fields": ["start_ms"]}))["rows"]]
    assert (found["first_ms"], found["last_ms"]) == (starts[0], starts[-1])
    assert tables["err"]["rows"] == 1
    done = run(twins.command, "prune", url, "--max-size", f"{found['bytes'] // 1024 * 2 // 3}K")
    assert done["reports"]["runs"] + done["aggregates"]["runs"] > 0 and done["bytes_after"] < done["bytes_before"]
    assert run(twins.command, "stat", url)["runs"] == RUNS - done["aggregates"]["runs"]
    old = {"script": {"source": f"ctx._source.time_ms = {FIRST_MS}L; ctx._source.raw = 'x'"}}
    twins.node.call("POST", f"/{twins.prefix}-err/_update_by_query?refresh=true", old)
    lines: List[Any] = []
    for number in range(2500):  # more than one piece
        raw = {"raw": (1 + number % 2 * 8999) * "y"} if number % 3 else {}
        lines += [{"index": {}}, {"kind": "error", "time_ms": FIRST_MS + number // 2, **raw}]
    assert not twins.node.call("POST", f"/{twins.prefix}-err/_bulk?refresh=true", lines).json["errors"]
    run(twins.command, "prune", url, "--keep", ago(1))
    hits = twins.node.call("POST", f"/{twins.prefix}-err/_search", {"size": 3000}).json["hits"]["hits"]
    assert len(hits) == 2501 and all("raw" not in hit["_source"] for hit in hits)
    assert run(twins.command, "prune", url, "--keep-aggregates", ago(1))["errors"] == 2501
    assert twins.documents("err") == 0
