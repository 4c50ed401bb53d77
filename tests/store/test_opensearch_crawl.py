"""Crawlers that share a store on OpenSearch, and are killed: its documents are those of an undisturbed crawl.

6 kills in each run of the tests, 200 in `./dev soak`."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

import conftest
import pytest
from servers import opensearch
from servers.between import Between
from servers.shared import ON_OPENSEARCH

sys.path.insert(0, str(conftest.ROOT / "tests" / "crawl"))

from fleet import command, crawl, events, kinds, make_fleet  # noqa: E402

pytestmark = ON_OPENSEARCH
KILLS, NEW_LOGS = 6, 4  # of one test
ALL_KILLS = int(os.environ.get("PYROMETER_KILLS") or KILLS)
FIELDS = ["app_id", "attempt", "name", "start_ms", "duration_ms", "application", "source", "agg.summary.parallel_work", "tag.1"]
QUESTIONS: List[Any] = [
    {"from": "runs", "fields": FIELDS, "order": {"by": "app_id"}, "limit": 1000},
    {"from": "findings", "group": [{"field": "rule"}], "measures": [{"as": "n", "op": "count"}]},
    {"from": "errors", "fields": ["app_id", "step", "type", "tries"], "order": {"by": "app_id"}, "limit": 100},
]
PASSING = {"recorded_ms", "time_ms", "until_ms", "next_ms", "listed_ms", "epoch", "owner", "tries", "time_processed"}


def without_passing(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_passing(one) for name, one in value.items() if name not in PASSING}
    return [without_passing(one) for one in value] if isinstance(value, list) else value


def content(node: opensearch.Node, prefix: str) -> Dict[str, List[str]]:
    found: Dict[str, List[str]] = {}
    node.call("POST", f"/{prefix}-*/_refresh")
    for index in ("raw", "agg", "rows", "err", "work"):
        hits = node.call("POST", f"/{prefix}-{index}/_search", {"size": 5000}).json["hits"]["hits"]
        found[index] = sorted(json.dumps([hit["_id"], without_passing(hit["_source"])], sort_keys=True) for hit in hits)
    return found


def crawled(url: str, logs: Path, *options: str) -> Dict[str, int]:
    done = crawl(logs, "--store", url, "--once", "--log-format", "json", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return kinds(events(done))


def ask(url: str, question: Any) -> List[Any]:
    done = conftest.run_command([str(conftest.binary_path()), "store", "query", url, json.dumps(question)], limit_s=60)
    assert done.exit == 0, done.explain()
    rows: List[Any] = done.json["rows"]
    return rows


def test_a_crawl(opensearch_node: opensearch.Node, index_prefix: str, tmp_path: Path) -> None:
    url, logs, sqlite = f"opensearch:{opensearch_node.url}/{index_prefix}", tmp_path / "logs", f"sqlite:{tmp_path}/runs.db"
    make_fleet(logs, 3)
    (logs / "broken").write_text('{"Event":"SomethingElse"}\npassword=hunter2secret\n')
    assert crawled(url, logs) == {"listed": 1, "stored": 3, "failed": 1, "passed": 1}
    assert crawled(url, logs) == {"listed": 1, "passed": 1}
    found = content(opensearch_node, index_prefix)
    assert len(found["agg"]) == len(found["raw"]) == 3 and len(found["work"]) == 5
    (error,) = found["err"]
    assert "SomethingElse" in error and "hunter2secret" not in error
    assert crawled(sqlite, logs)["stored"] == 3
    for question in QUESTIONS:
        assert ask(url, question) == ask(sqlite, question), question
    assert crawled(url, logs, "--retry-errors")["failed"] == 1
    done = crawl("--store", url, "--retry-errors")
    assert done.returncode == 0, done.stderr
    assert crawled(url, logs)["failed"] == 1


def test_a_long_text_that_could_not_be_read(opensearch_node: opensearch.Node, index_prefix: str, tmp_path: Path) -> None:
    """Too long to be searched for: it is known that there is one, until it is removed."""
    url, logs = f"opensearch:{opensearch_node.url}/{index_prefix}", tmp_path / "logs"
    logs.mkdir()
    (logs / "broken").write_text('{"Event":"SomethingElse"}\n' + "y" * 9000)
    crawled(url, logs)
    with_raw = {"from": "errors", "fields": ["raw"], "where": [{"field": "raw", "op": "exists", "value": True}]}

    def store(*words: str) -> Any:
        done = conftest.run_command([str(conftest.binary_path()), "store", words[0], url, *words[1:]], limit_s=60)
        assert done.exit == 0, done.explain()
        return done.json

    assert [len(row[0]) for row in store("query", json.dumps(with_raw))["rows"]] == [9026]
    old = {"script": {"source": "ctx._source.time_ms = 1L"}}
    opensearch_node.call("POST", f"/{index_prefix}-err/_update_by_query?refresh=true", old)
    store("prune", "--keep", "1d")
    assert store("query", json.dumps(with_raw))["rows"] == []


def test_answers_that_are_lost(opensearch_node: opensearch.Node, index_prefix: str, tmp_path: Path) -> None:
    """The server has taken a claim, and its answer never comes: the crawler finds what it holds without knowing of it."""
    lost: List[str] = []

    def lose_the_first_claim(path: str, answer: Any) -> Any:
        items = answer.get("items", []) if path.startswith("/_bulk") else []
        claimed = [item["update"]["_id"] for item in items if item.get("update", {}).get("_index", "").endswith("-work")]
        if claimed and not lost:
            lost.extend(claimed)
            return None
        return answer

    logs = tmp_path / "logs"
    make_fleet(logs, 3)
    with Between(opensearch_node.url, change=lose_the_first_claim) as between:
        url = f"opensearch:{between.url}/{index_prefix}"
        assert crawled(url, logs) == {"listed": 1, "stored": 3, "passed": 1}
    assert len(lost) == 3
    assert {row["state"] for row in leases(opensearch_node, index_prefix).values()} == {"done"}


def leases(node: opensearch.Node, prefix: str) -> Dict[str, Any]:
    """Items of the work by their keys, as they are now: a search would see them as they were up to a second ago."""
    node.call("POST", f"/{prefix}-work/_refresh")
    hits = node.call("POST", f"/{prefix}-work/_search", {"size": 5000, "query": {"term": {"kind": "item"}}}).json["hits"]["hits"]
    return {hit["_source"]["key"]: hit["_source"] for hit in hits}


def test_what_others_hold_is_said(opensearch_node: opensearch.Node, index_prefix: str, tmp_path: Path) -> None:
    url, logs = f"opensearch:{opensearch_node.url}/{index_prefix}", tmp_path / "logs"
    make_fleet(logs, 3)
    crawled(url, logs)
    held = {"script": {"source": "ctx._source.state = 'leased'; ctx._source.owner = 'dead'; ctx._source.until_ms = 9000000000000L"}}
    path = f"/{index_prefix}-work/_update_by_query?refresh=true"
    assert opensearch_node.call("POST", path, {"query": {"term": {"kind": "item"}}, **held}).status == 200
    done = crawl(logs, "--store", url, "--once", "--log-format", "json")
    passed = events(done)[-1]
    assert passed["event"] == "passed" and passed["held"] == 3 and "5 minutes" in passed["message"]


class Crawlers:
    """Two of them on one store, which are killed."""

    def __init__(self, node: opensearch.Node, prefix: str, folder: Path, chance: random.Random) -> None:
        self.node, self.prefix, self.logs, self.output, self.chance = node, prefix, folder / "logs", folder / "output", chance
        self.url, self.made = f"opensearch:{node.url}/{prefix}", 0
        self.running: List[Optional["subprocess.Popen[bytes]"]] = [None, None]

    def make_logs(self) -> None:
        make_fleet(self.logs, NEW_LOGS, first=self.made + 1)
        self.made += NEW_LOGS

    def start(self, which: int) -> None:
        words = ["--store", self.url, "--every", "100ms", "--jobs", "2", "--rate", "60/s", "--log-format", "json"]
        with open(self.output, "ab") as to:
            self.running[which] = subprocess.Popen(command(self.logs, *words), stdout=to, stderr=to)

    def kill_one(self) -> None:
        which = self.chance.randrange(len(self.running))
        process = self.running[which]
        assert process is not None and process.poll() is None, self.output.read_text()[-2000:]
        process.send_signal(signal.SIGKILL)
        process.wait()
        if self.chance.random() < 0.7:
            self.let_leases_end()
        self.start(which)

    def let_leases_end(self) -> None:
        """What time does, some minutes later; the other crawler's leases too, so that it may come late."""
        self.node.call("POST", f"/{self.prefix}-work/_refresh")
        leased = {"query": {"term": {"state": "leased"}}, "script": {"source": "ctx._source.until_ms = 1"}}
        path = f"/{self.prefix}-work/_update_by_query?conflicts=proceed&refresh=true"
        assert self.node.call("POST", path, leased).status == 200

    def end(self) -> None:
        for process in self.running:
            if process is not None:
                process.kill()
                process.wait()

    def finish(self) -> None:
        """A request of a killed crawler may be carried out after its death, and lease something then: a crawl says so."""
        held = 1
        for _ in range(5):
            if held:
                self.let_leases_end()
                done = crawl(self.logs, "--store", self.url, "--once", "--log-format", "json")
                assert done.returncode == 0, done.stdout + done.stderr
                held = events(done)[-1].get("held", 0)
        assert held == 0
        assert crawled(self.url, self.logs) == {"listed": 1, "passed": 1}


@pytest.mark.parametrize("seed", range(20260101, 20260101 + max(ALL_KILLS // KILLS, 1)))
def test_killed_crawlers_lose_nothing(opensearch_node: opensearch.Node, index_prefix: str, tmp_path: Path, seed: int) -> None:
    crawlers = Crawlers(opensearch_node, f"{index_prefix}-disturbed", tmp_path, random.Random(seed))
    calm = f"opensearch:{opensearch_node.url}/{index_prefix}-calm"
    crawlers.make_logs()
    crawled(crawlers.url, crawlers.logs)  # the store exists: what is killed is the crawl
    try:
        for which in range(len(crawlers.running)):
            crawlers.start(which)
        for _ in range(KILLS):
            crawlers.make_logs()
            time.sleep(crawlers.chance.uniform(0, 1))
            crawlers.kill_one()
    finally:
        crawlers.end()
    crawlers.finish()
    assert crawled(calm, crawlers.logs)["stored"] == crawlers.made
    found, expected = (content(opensearch_node, f"{index_prefix}{name}") for name in ("-disturbed", "-calm"))
    assert len(expected["agg"]) == crawlers.made
    for index, documents in expected.items():
        assert found[index] == documents, index
