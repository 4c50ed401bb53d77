"""Crawlers that share a store on OpenSearch, and are killed: its documents are those of an undisturbed crawl."""

from __future__ import annotations

import json
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
from servers.shared import ON_OPENSEARCH

sys.path.insert(0, str(conftest.ROOT / "tests" / "crawl"))

from fleet import command, crawl, events, kinds, make_fleet  # noqa: E402

pytestmark = ON_OPENSEARCH
KILLS, NEW_LOGS, SEED = 6, 4, 20260101
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


def test_killed_crawlers_lose_nothing(opensearch_node: opensearch.Node, index_prefix: str, tmp_path: Path) -> None:
    chance, logs, made = random.Random(SEED), tmp_path / "logs", NEW_LOGS
    disturbed, calm = (f"opensearch:{opensearch_node.url}/{index_prefix}{name}" for name in ("-disturbed", "-calm"))
    words = command(logs, "--store", disturbed, "--every", "100ms", "--jobs", "2", "--rate", "60/s", "--log-format", "json")
    running: List[Optional["subprocess.Popen[bytes]"]] = [None, None]
    output = tmp_path / "output"
    make_fleet(logs, NEW_LOGS)
    crawled(disturbed, logs)

    def let_leases_end() -> None:
        leased = {"query": {"term": {"state": "leased"}}, "script": {"source": "ctx._source.until_ms = 1"}}
        path = f"/{index_prefix}-disturbed-work/_update_by_query?conflicts=proceed&refresh=true"
        assert opensearch_node.call("POST", path, leased).status == 200

    def start(which: int) -> None:
        with open(output, "ab") as to:
            running[which] = subprocess.Popen(words, stdout=to, stderr=to)

    try:
        for which in range(len(running)):
            start(which)
        for _ in range(KILLS):
            make_fleet(logs, NEW_LOGS, first=made + 1)
            made += NEW_LOGS
            time.sleep(chance.uniform(0, 1))
            which = chance.randrange(len(running))
            process = running[which]
            assert process is not None and process.poll() is None, output.read_text()[-2000:]
            process.send_signal(signal.SIGKILL)
            process.wait()
            if chance.random() < 0.7:
                let_leases_end()
            start(which)
    finally:
        for process in running:
            if process is not None:
                process.kill()
                process.wait()
    let_leases_end()
    crawled(disturbed, logs)
    assert crawled(disturbed, logs) == {"listed": 1, "passed": 1}
    assert crawled(calm, logs)["stored"] == made
    found, expected = (content(opensearch_node, f"{index_prefix}{name}") for name in ("-disturbed", "-calm"))
    assert len(expected["agg"]) == made
    for index, documents in expected.items():
        assert found[index] == documents, index
