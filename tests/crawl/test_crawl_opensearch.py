"""A real OpenSearch as the store: two crawlers share the work, one of them is killed, and each run is there once."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, List

import conftest
from fleet import command, crawl, crawled, events, kinds, make_fleet
from servers import opensearch
from servers.shared import ON_OPENSEARCH


pytestmark = ON_OPENSEARCH
FIELDS = ["app_id", "attempt", "name", "start_ms", "duration_ms", "application", "source", "agg.summary.parallel_work", "tag.1"]
QUESTIONS = [
    {"from": "runs", "fields": FIELDS, "order": {"by": "app_id"}, "limit": 1000},
    {"from": "findings", "group": [{"field": "rule"}], "measures": [{"as": "n", "op": "count"}]},
    {"from": "errors", "fields": ["app_id", "step", "type", "tries"], "order": {"by": "app_id"}, "limit": 100},
]


def ask(url: str, question: Any) -> List[Any]:
    done = conftest.run_command([str(conftest.binary_path()), "store", "query", url, json.dumps(question)], limit_s=60)
    assert done.exit == 0, done.explain()
    rows: List[Any] = done.json["rows"]
    return rows


def test_two_crawlers_and_a_kill(opensearch_node: opensearch.Node, index_prefix: str, tmp_path: Path) -> None:
    logs, sqlite = tmp_path / "logs", f"sqlite:{tmp_path}/runs.db"
    url = f"opensearch:{opensearch_node.url}/{index_prefix}"
    make_fleet(logs, 24)
    (logs / "broken").write_text("no log")
    crawled(tmp_path / "runs.db", logs)
    words = command(logs, "--store", url, "--every", "200ms", "--jobs", "1", "--rate", "20/s", "--log-format", "json")
    with open(tmp_path / "output", "wb") as output:
        running = [subprocess.Popen(words, stdout=output, stderr=output, preexec_fn=conftest.default_signals) for _ in range(2)]
    try:
        deadline = time.monotonic() + 60
        while (tmp_path / "output").read_text().count('"stored"') < 4:
            assert time.monotonic() < deadline and running[0].poll() is None, (tmp_path / "output").read_text()
            time.sleep(0.05)
        running[0].kill()
        running[0].wait()
        running[1].send_signal(signal.SIGTERM)
        assert running[1].wait(timeout=60) == 0, (tmp_path / "output").read_text()
    finally:
        for process in running:
            process.kill()
            process.wait()
    # What time does, some minutes later.
    end = {"script": {"source": "ctx._source.until_ms = 0"}, "query": {"term": {"state": "leased"}}}
    opensearch_node.call("POST", f"/{index_prefix}-*/_refresh")
    ended = opensearch_node.call("POST", f"/{index_prefix}-work/_update_by_query?refresh=true", end)
    assert ended.status == 200, ended.body
    done = crawl(logs, "--store", url, "--once", "--log-format", "json")
    assert done.returncode == 0, done.stderr
    done = crawl(logs, "--store", url, "--once", "--log-format", "json")
    assert kinds(events(done)) == {"listed": 1, "passed": 1}
    opensearch_node.call("POST", f"/{index_prefix}-*/_refresh")  # which it does by itself within seconds
    for question in QUESTIONS:
        assert ask(url, question) == ask(sqlite, question), question
