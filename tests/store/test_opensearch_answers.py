"""Answers that no OpenSearch gives: the server of an address is not to be trusted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import conftest
import pytest
from servers import opensearch
from servers.between import Between
from servers.shared import ON_OPENSEARCH

pytestmark = ON_OPENSEARCH
LOG = conftest.ROOT / "corpus" / "logs" / "straggler.zst"
BY_MEMORY = {
    "from": "runs",
    "group": [{"field": "property.spark.executor.memory"}],
    "measures": [{"as": "n", "op": "count"}, {"as": "end", "op": "max", "field": "end_ms"}],
}


def run(tmp_path: Path, *arguments: Any) -> conftest.Run:
    command = ["env", f"HOME={tmp_path}", "PYROMETER_STORE=", str(conftest.binary_path()), *map(str, arguments)]
    return conftest.run_command(command, limit_s=60)


@pytest.fixture
def place(tmp_path: Path, opensearch_node: opensearch.Node, index_prefix: str) -> str:
    done = run(tmp_path, "diagnose", LOG, "-f", "json", "--store", f"opensearch:{opensearch_node.url}/{index_prefix}")
    assert done.exit == 0, done.err
    return index_prefix


def test_keys_and_numbers_of_groups(tmp_path: Path, opensearch_node: opensearch.Node, place: str) -> None:
    keys: List[Any] = ["x", "", "spark.executor.memory", "spark.executor.memory:2g", "spark.executor.memory=2g", 7, None, {}]

    def change(path: str, answer: Any) -> Any:
        if path.endswith("_search"):
            groups: Dict[str, Any] = answer["aggregations"]["v"]
            (bucket,) = groups["buckets"]
            bucket["m1"] = {"count": 1, "max": 1e300, "value": 1e300}
            groups["buckets"] = [{**bucket, "key": key} for key in keys]
        return answer

    with Between(opensearch_node.url, change=change) as between:
        done = run(tmp_path, "store", "query", f"opensearch:{between.url}/{place}", json.dumps(BY_MEMORY))
    assert done.exit == 0, done.err
    rows = json.loads(done.out)["rows"]
    assert len(rows) == len(keys) and {row[0] for row in rows} == {None, "2g", 7}


def test_sizes_and_times_beyond_64_bits(tmp_path: Path, opensearch_node: opensearch.Node, place: str) -> None:
    def change(path: str, answer: Any) -> Any:
        if path.endswith("_search"):
            answer["aggregations"]["last"]["value"] = 1e300
        for index in answer.get("indices", {}).values():
            index["total"]["store"]["size_in_bytes"] = index["primaries"]["docs"]["count"] = 2**63 - 1
        return answer

    with Between(opensearch_node.url, change=change) as between:
        done = run(tmp_path, "store", "stat", f"opensearch:{between.url}/{place}")
    assert done.exit == 0, done.err
    assert json.loads(done.out)["bytes"] == 2**63 - 1 and json.loads(done.out)["last_ms"] is None


def test_who_only_reads_gives_up_soon(tmp_path: Path, opensearch_node: opensearch.Node, index_prefix: str) -> None:
    """A request to our server waits for it."""
    with Between(opensearch_node.url, before=lambda _: 503) as between:
        done = run(tmp_path, "store", "stat", f"opensearch:{between.url}/{index_prefix}")
    assert done.exit == 3 and b"cannot be read" in done.err and len(between.paths) == 2
