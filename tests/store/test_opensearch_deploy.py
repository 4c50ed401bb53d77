"""deploy/opensearch: every query of the dashboards, alerts and pipelines runs on a real store and finds something."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import conftest
import pytest
from servers import opensearch
from servers.shared import ON_OPENSEARCH

FOLDER = conftest.ROOT / "deploy" / "opensearch"
SAVED = [json.loads(line) for line in (FOLDER / "saved_objects.ndjson").read_text(encoding="utf-8").splitlines()]
ALERTS = sorted((FOLDER / "alerts").glob("*.json"))
PIPELINES = sorted((FOLDER / "logstash").glob("*.conf"))
LOGS = ("straggler", "data_skew", "job_failed_udf", "executor_lost", "healthy_sql", "aqe_off")
PREFIX = "deployed"
NOW = "now-"


def titles(kind: str) -> List[str]:
    return [one["attributes"]["title"] for one in SAVED if one["type"] == kind]


def saved(kind: str, title: str) -> Dict[str, Any]:
    return next(one for one in SAVED if one["type"] == kind and one["attributes"]["title"] == title)


@pytest.fixture(scope="module")
def node(opensearch_node: opensearch.Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[opensearch.Node]:
    """With crawled runs, errors, and numbers of a cluster."""
    folder = tmp_path_factory.mktemp("deployed")
    for name in LOGS:
        (folder / f"{name}.zst").symlink_to(conftest.ROOT / "corpus" / "logs" / f"{name}.zst")
    (folder / "broken").write_text('{"Event":"SomethingElse"}\n')
    os.utime(folder / "broken", (1767225600, 1767225600))
    url = f"opensearch:{opensearch_node.url}/{PREFIX}"
    subprocess.run([str(conftest.binary_path()), "crawl", str(folder), "--store", url, "--once"], check=True, stdout=subprocess.PIPE)
    opensearch_node.call("POST", f"/{PREFIX}-*/_refresh")
    run = opensearch_node.call("POST", f"/{PREFIX}-agg/_search", {"size": 1}).json["hits"]["hits"][0]["_source"]
    number = {"kind": "cluster", "source": "rm", "name": "availableMB", "time_ms": run["recorded_ms"], "number": 4096.0}
    refused = {"kind": "error", "step": "store", "type": "refused", "message": "no", "time_ms": run["recorded_ms"], "app_id": "a"}
    for index, document in (("rows", number), ("err", refused)):
        assert opensearch_node.call("POST", f"/{PREFIX}-{index}/_doc?refresh=true", document).status == 201
    yield opensearch_node
    opensearch_node.remove(PREFIX)


def search(node: opensearch.Node, index: str, body: Dict[str, Any]) -> Dict[str, Any]:
    answer = node.call("POST", f"/{index.replace('spark-', PREFIX + '-')}/_search", body)
    assert answer.status == 200 and answer.json["_shards"]["failed"] == 0, answer.body[:2000]
    return dict(answer.json)


def fields_of(value: Any) -> Iterator[str]:
    """What a query or aggregation names as a field."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name == "field":
                yield one
            elif name in ("term", "terms", "range") and isinstance(one, dict) and "field" not in one:
                yield from one
            else:
                yield from fields_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from fields_of(one)


def mapped(node: opensearch.Node, index: str) -> Dict[str, Any]:
    answer = node.call("GET", f"/{index.replace('spark-', PREFIX + '-')}/_field_caps?fields=*").json
    return dict(answer["fields"])


def test_the_file_is_what_the_program_makes() -> None:
    made = subprocess.run([sys.executable, str(FOLDER / "make_saved_objects.py")], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert made == (FOLDER / "saved_objects.ndjson").read_text(encoding="utf-8")
    other = subprocess.run([sys.executable, str(FOLDER / "make_saved_objects.py"), "other"], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert other == made.replace("spark-", "other-")


def test_references_lead_somewhere() -> None:
    known = {(one["type"], one["id"]) for one in SAVED}
    assert len(known) == len(SAVED) and len(titles("dashboard")) == 3
    shown = set()
    for one in SAVED:
        for reference in one["references"]:
            assert (reference["type"], reference["id"]) in known, reference
            shown.add(reference["id"])
    for dashboard in (one for one in SAVED if one["type"] == "dashboard"):
        panels = json.loads(dashboard["attributes"]["panelsJSON"])
        assert [panel["panelRefName"] for panel in panels] == [reference["name"] for reference in dashboard["references"]]
    assert {one["id"] for one in SAVED if one["type"] in ("visualization", "search")} <= shown


def rows_of(answer: Any, path: str) -> List[Dict[str, Any]]:
    for name in path.split("."):
        answer = answer[name]
    return list(answer)


@pytest.mark.parametrize("title", titles("visualization"))
def test_pictures(node: opensearch.Node, title: str) -> None:
    spec = json.loads(json.loads(saved("visualization", title)["attributes"]["visState"])["params"]["spec"])
    url, where = spec["data"]["url"], spec["data"]["format"]["property"]
    rows = rows_of(search(node, url["index"], url["body"]), where)
    assert rows or (title == "Duration against input"), "nothing to draw"
    known = mapped(node, url["index"])
    assert set(fields_of(url["body"])) <= set(known), "a field that no document has"
    if url.get("%context%"):
        assert known[url["%timefield%"]].keys() == {"date"}
    encoded = [one["field"] for one in spec["encoding"].values()]
    made = {name for step in spec.get("transform", []) for name in [step.get("as")] if isinstance(name, str)} | {"value", "key"}
    flat = {name for step in spec.get("transform", []) for name in step.get("as", []) if "flatten" in step}
    for field in encoded:
        first, *rest = field.split(".")
        if first in made or first in flat:
            continue
        value: Any = rows[0] if rows else None
        for name in (first, *rest):
            value = value[name] if value is not None else None


@pytest.mark.parametrize("title", titles("search"))
def test_saved_searches(node: opensearch.Node, title: str) -> None:
    attributes = saved("search", title)["attributes"]
    (reference,) = saved("search", title)["references"]
    text = json.loads(attributes["kibanaSavedObjectMeta"]["searchSourceJSON"])["query"]["query"]
    body = {"query": {"query_string": {"query": text}}, "sort": [{name: order} for name, order in attributes["sort"]]}
    answer = search(node, reference["id"], body)
    assert answer["hits"]["hits"], text
    assert set(attributes["columns"]) <= set(mapped(node, reference["id"]))


def evaluate(node: opensearch.Node, script: str, results: List[Dict[str, Any]]) -> bool:
    """The condition of a trigger, by the server's own Painless."""
    source = script.replace("ctx.", "params.ctx.")
    answer = node.call("POST", "/_scripts/painless/_execute", {"script": {"source": source, "params": {"ctx": {"results": results}}}})
    assert answer.status == 200, answer.body
    return bool(answer.json["result"] == "true")


@pytest.mark.parametrize("path", ALERTS, ids=lambda path: path.stem)
def test_alerts(node: opensearch.Node, path: Path) -> None:
    monitor = json.loads(path.read_text(encoding="utf-8"))
    (asked,) = [one["search"] for one in monitor["inputs"]]
    (trigger,) = [one["query_level_trigger"] for one in monitor["triggers"]]
    condition = trigger["condition"]["script"]["source"]
    (index,) = asked["indices"]
    answer = search(node, index, asked["query"])
    assert set(fields_of(asked["query"])) <= set(mapped(node, index))
    now = evaluate(node, condition, [answer])
    # All runs are new, one document was refused, one log is not a log, and some findings are critical.
    assert now == (path.stem in ("severe_errors", "severe_findings", "stuck_work")), answer
    long_ago = json.loads(json.dumps(asked["query"]).replace(NOW, "now+1d-")) if path.stem != "stuck_work" else {**asked["query"], "query": {"term": {"state": "none"}}}
    assert evaluate(node, condition, [search(node, index, long_ago)]) == (path.stem == "no_new_runs")


def queries(path: Path) -> List[Tuple[str, Dict[str, Any]]]:
    text = path.read_text(encoding="utf-8")
    return [(index, json.loads(query)) for index, query in re.findall(r'index => "([^"]+)".*?query => \'(.*?)\'', text, re.S)]


def test_pipelines(node: opensearch.Node) -> None:
    found = [(path.stem, *one) for path in PIPELINES for one in queries(path)]
    assert len(found) == 2
    for _, index, body in found:
        assert search(node, index, body)["hits"]["hits"], body
        assert set(body["_source"]) <= set(mapped(node, index))


def test_the_log_of_a_crawler(node: opensearch.Node, tmp_path: Path) -> None:
    """What Logstash makes of a line: its time as @timestamp, and the rest as it is."""
    template = json.loads((FOLDER / "logstash" / "crawler_log_template.json").read_text(encoding="utf-8"))
    template["index_patterns"] = [f"{PREFIX}-log"]
    assert node.call("PUT", f"/_index_template/{PREFIX}-log", template).status == 200
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "broken").write_text('{"Event":"SomethingElse"}\n')
    command = [str(conftest.binary_path()), "crawl", str(logs), "--store", f"sqlite:{tmp_path}/runs.db", "--once", "--log-format", "json"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    lines: List[Any] = []
    for event in map(json.loads, printed):
        lines += [{"index": {"_index": f"{PREFIX}-log"}}, {**{name: value for name, value in event.items() if name != "time"}, "@timestamp": event["time"]}]
    answer = node.call("POST", "/_bulk?refresh=true", lines)
    assert answer.status == 200 and not answer.json["errors"], answer
    known = mapped(node, "spark-log")
    assert {name for line in lines[1::2] for name in line} <= set(known)
    failed = search(node, "spark-log", {"query": {"term": {"event": "failed"}}})
    assert failed["hits"]["total"]["value"] == 1


pytestmark = ON_OPENSEARCH
