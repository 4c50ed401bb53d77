#!/usr/bin/env python3
"""Saved objects for OpenSearch Dashboards and Kibana, over a store of Pyrometer (docs/store.md).

    make_saved_objects.py [PREFIX] > saved_objects.ndjson      PREFIX: of the store's indices; "spark" if not given

Each picture is a Vega-Lite specification that says its query in full.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Dict, Iterator, List, Tuple

Json = Dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v4.json"
DAYS = {"field": "start_ms", "calendar_interval": "day", "min_doc_count": 1}
ENDED = {"terms": {"status": ["completed", "failed"]}}  # of logs without an end, aggregates of Spot's tables say nothing
PATTERNS = (("agg", "start_ms"), ("rows", "run_start_ms"), ("err", "time_ms"), ("raw", "start_ms"), ("work", "end_ms"))


def total(field: str) -> Json:
    return {"sum": {"field": field}}


def terms(field: str, size: int, **more: Any) -> Json:
    return {"terms": {"field": field, "size": size, **more}}


def of_kind(kind: str, *more: Json) -> Json:
    return {"bool": {"filter": [{"term": {"kind": kind}}, *more]}}


def axis(field: str, kind: str, title: str, **more: Any) -> Json:
    return {"field": field, "type": kind, "title": title, **more}


class Picture:
    """One visualization: where its numbers come from, and how they are drawn."""

    def __init__(self, name: str, title: str, index: str, time: str, body: Json, rows: str, spec: Json) -> None:
        self.name, self.title, self.index, self.time = name, title, index, time
        self.body, self.rows, self.spec = body, rows, spec

    def object(self, prefix: str) -> Json:
        url = {"index": f"{prefix}-{self.index}", "body": {"track_total_hits": True, **self.body}}
        url.update({"%context%": True, "%timefield%": self.time} if self.time else {})
        spec = {"$schema": SCHEMA, "data": {"url": url, "format": {"property": self.rows}}, **self.spec}
        state = {"title": self.title, "type": "vega", "params": {"spec": json.dumps(spec, indent=1)}, "aggs": []}
        source = {"query": {"query": "", "language": "lucene"}, "filter": []}
        attributes = {
            "title": self.title,
            "visState": json.dumps(state),
            "uiStateJSON": "{}",
            "description": "",
            "version": 1,
            "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps(source)},
        }
        return {"id": f"{prefix}-{self.name}", "type": "visualization", "attributes": attributes, "references": []}


def within(name: str, as_: str) -> List[Json]:
    """A row for each group within a group."""
    return [{"flatten": [f"{name}.buckets"], "as": [as_]}]


PICTURES = [
    Picture(
        "runs-per-day", "Runs a day by status", "agg", "start_ms",
        {"size": 0, "aggs": {"days": {"date_histogram": DAYS, "aggs": {"status": terms("status", 5)}}}},
        "aggregations.days.buckets",
        {"transform": within("status", "one"), "mark": "bar",
         "encoding": {"x": axis("key", "temporal", "day"), "y": axis("one.doc_count", "quantitative", "runs"),
                      "color": axis("one.key", "nominal", "status")}},
    ),
    Picture(
        "core-hours", "Core hours a day by user", "rows", "start_ms",
        {"size": 0, "query": of_kind("usage"),
         "aggs": {"days": {"date_histogram": DAYS, "aggs": {"user": {**terms("user", 10), "aggs": {"core_ms": total("core_ms")}}}}}},
        "aggregations.days.buckets",
        {"transform": [*within("user", "one"), {"calculate": "datum.one.core_ms.value / 3600000", "as": "hours"}], "mark": "bar",
         "encoding": {"x": axis("key", "temporal", "day"), "y": axis("hours", "quantitative", "core hours"),
                      "color": axis("one.key", "nominal", "user")}},
    ),
    Picture(
        "used-cores", "Core time that tasks used", "rows", "start_ms",
        {"size": 0, "query": of_kind("usage"),
         "aggs": {"days": {"date_histogram": DAYS, "aggs": {"core_ms": total("core_ms"), "busy_core_ms": total("busy_core_ms")}}}},
        "aggregations.days.buckets",
        {"transform": [{"filter": "datum.core_ms.value > 0"}, {"calculate": "datum.busy_core_ms.value / datum.core_ms.value", "as": "share"}],
         "mark": "line", "encoding": {"x": axis("key", "temporal", "day"), "y": axis("share", "quantitative", "share", axis={"format": "%"})}},
    ),
    Picture(
        "durations", "Duration by application", "agg", "start_ms",
        {"size": 0, "aggs": {"names": {**terms("name", 20), "aggs": {
            "duration": {"percentiles": {"field": "duration_ms", "percents": [50, 95], "keyed": False, "tdigest": {"compression": 1000}}}}}}},
        "aggregations.names.buckets",
        {"transform": [{"calculate": "datum.duration.values[0].value / 60000", "as": "median"},
                       {"calculate": "datum.duration.values[1].value / 60000", "as": "p95"}, {"fold": ["median", "p95"]}],
         "mark": "point", "encoding": {"x": axis("value", "quantitative", "minutes"), "y": axis("key", "nominal", "application"),
                                       "color": axis("key", "nominal", "", legend=None), "shape": axis("value", "nominal", "", legend=None)}},
    ),
    Picture(
        "duration-histogram", "Runs by duration", "agg", "start_ms",
        {"size": 0, "aggs": {"minutes": {"histogram": {"field": "duration_ms", "interval": 60000, "min_doc_count": 1}}}},
        "aggregations.minutes.buckets",
        {"transform": [{"calculate": "datum.key / 60000", "as": "minutes"}], "mark": "bar",
         "encoding": {"x": axis("minutes", "quantitative", "minutes"), "y": axis("doc_count", "quantitative", "runs")}},
    ),
    Picture(
        "duration-by-input", "Duration against input", "agg", "start_ms",
        {"size": 1000, "query": {"bool": {"filter": [{"range": {"input_bytes": {"gt": 0}}}, {"exists": {"field": "duration_ms"}}]}},
         "sort": [{"start_ms": "desc"}], "_source": ["name", "duration_ms", "input_bytes", "core_ms"]},
        "hits.hits",
        {"mark": "point", "encoding": {"x": axis("_source.input_bytes", "quantitative", "input (bytes)", scale={"type": "log"}),
                                       "y": axis("_source.duration_ms", "quantitative", "duration (ms)", scale={"type": "log"}),
                                       "color": axis("_source.name", "nominal", "application"),
                                       "size": axis("_source.core_ms", "quantitative", "core time (ms)")}},
    ),
    Picture(
        "findings", "Findings by what their fixes save", "rows", "run_start_ms",
        {"size": 0, "query": of_kind("finding", {"term": {"folded": 0}}),
         "aggs": {"rules": {**terms("rule", 20, order={"core_ms": "desc"}), "aggs": {"core_ms": total("saves_core_ms"), "wall_ms": total("saves_ms")}}}},
        "aggregations.rules.buckets",
        {"transform": [{"calculate": "datum.core_ms.value / 3600000", "as": "hours"}], "mark": "bar",
         "encoding": {"x": axis("hours", "quantitative", "core hours"), "y": axis("key", "nominal", "rule", sort="-x"),
                      "color": axis("doc_count", "quantitative", "findings")}},
    ),
    Picture(
        "advice", "Recommended settings", "rows", "run_start_ms",
        {"size": 0, "query": of_kind("advice", {"bool": {"must_not": [{"term": {"key": ""}}]}}),
         "aggs": {"keys": {**terms("key", 20), "aggs": {"applications": {"cardinality": {"field": "application"}}}}}},
        "aggregations.keys.buckets",
        {"mark": "bar", "encoding": {"x": axis("applications.value", "quantitative", "applications"), "y": axis("key", "nominal", "setting", sort="-x")}},
    ),
    Picture(
        "executor-memory", "Runs by executor memory", "agg", "start_ms",
        {"size": 0, "aggs": {"memory": {**terms("properties", 20, include="spark\\.executor\\.memory=.*"),
                                        "aggs": {"core_ms": total("core_ms"), "duration": {"avg": {"field": "duration_ms"}}}}}},
        "aggregations.memory.buckets",
        {"mark": "bar", "encoding": {"x": axis("doc_count", "quantitative", "runs"), "y": axis("key", "nominal", "setting", sort="-x"),
                                     "color": axis("duration.value", "quantitative", "mean duration (ms)")}},
    ),
    Picture(
        "modes", "Adaptive execution and dynamic allocation", "agg", "start_ms",
        {"size": 0, "aggs": {"modes": terms("properties", 20, include="spark\\.(sql\\.adaptive|dynamicAllocation)\\.enabled=.*")}},
        "aggregations.modes.buckets",
        {"mark": "bar", "encoding": {"x": axis("doc_count", "quantitative", "runs"), "y": axis("key", "nominal", "setting")}},
    ),
    Picture(
        "parallelism", "Speedup and efficiency by type of application", "agg", "start_ms",
        {"size": 0, "query": {"bool": {"filter": [{"exists": {"field": "agg.summary.estimated_speedup"}}, ENDED]}},
         "aggs": {"types": {**terms("type", 20), "aggs": {"speedup": {"avg": {"field": "agg.summary.estimated_speedup"}},
                                                         "efficiency": {"avg": {"field": "agg.summary.estimated_core_efficiency"}}}}}},
        "aggregations.types.buckets",
        {"mark": "point", "encoding": {"x": axis("speedup.value", "quantitative", "speedup"), "y": axis("efficiency.value", "quantitative", "efficiency"),
                                       "color": axis("key", "nominal", "type"), "size": axis("doc_count", "quantitative", "runs")}},
    ),
    Picture(
        "waste", "Idle and failed core time by application", "agg", "start_ms",
        {"size": 0, "aggs": {"names": {**terms("name", 20, order={"wasted": "desc"}),
                                       "aggs": {"wasted": total("agg.run.wasted_core_ms"), "core_ms": total("core_ms")}}}},
        "aggregations.names.buckets",
        {"transform": [{"calculate": "datum.wasted.value / 3600000", "as": "hours"}], "mark": "bar",
         "encoding": {"x": axis("hours", "quantitative", "core hours"), "y": axis("key", "nominal", "application", sort="-x")}},
    ),
    Picture(
        "cluster", "Numbers of clusters", "rows", "time_ms",
        {"size": 0, "query": of_kind("cluster"),
         "aggs": {"hours": {"date_histogram": {"field": "time_ms", "fixed_interval": "1h", "min_doc_count": 1},
                            "aggs": {"names": {**terms("name", 12), "aggs": {"number": {"avg": {"field": "number"}}}}}}}},
        "aggregations.hours.buckets",
        {"transform": within("names", "one"), "mark": "line",
         "encoding": {"x": axis("key", "temporal", "time"), "y": axis("one.number.value", "quantitative", "mean"), "color": axis("one.key", "nominal", "number")}},
    ),
    Picture(
        "errors", "Errors by step and type", "err", "time_ms",
        {"size": 0, "aggs": {"steps": {**terms("step", 6), "aggs": {"types": terms("type", 10)}}}},
        "aggregations.steps.buckets",
        {"transform": within("types", "one"), "mark": "bar",
         "encoding": {"x": axis("one.doc_count", "quantitative", "errors"), "y": axis("key", "nominal", "step"), "color": axis("one.key", "nominal", "type")}},
    ),
    Picture(
        "work", "Work of the crawlers", "work", "",
        {"size": 0, "query": {"term": {"kind": "item"}}, "aggs": {"sources": {**terms("source", 20), "aggs": {"states": terms("state", 5)}}}},
        "aggregations.sources.buckets",
        {"transform": within("states", "one"), "mark": "bar",
         "encoding": {"x": axis("one.doc_count", "quantitative", "logs"), "y": axis("key", "nominal", "source"), "color": axis("one.key", "nominal", "state")}},
    ),
]
# Saved searches: title, index, query in Lucene's language, columns, order.
SEARCHES = [
    ("failed-runs", "Failed runs", "agg", "status:failed", ["name", "user", "duration_ms", "path"], "start_ms"),
    ("severe-findings", "Severe findings", "rows", "kind:finding AND severity:(critical OR severe) AND folded:0", ["name", "rule", "title", "saves_ms"], "run_start_ms"),
    ("recent-errors", "Errors", "err", "kind:error", ["step", "type", "app_id", "message"], "time_ms"),
]
DASHBOARDS: List[Tuple[str, str, List[str]]] = [
    ("fleet", "Spark: usage and cost", ["runs-per-day", "core-hours", "used-cores", "waste", "findings", "advice", "cluster"]),
    ("applications", "Spark: applications", ["durations", "duration-histogram", "duration-by-input", "parallelism", "executor-memory", "modes"]),
    ("problems", "Spark: problems", ["errors", "work", "failed-runs", "severe-findings", "recent-errors"]),
]


def pattern(prefix: str, index: str, time: str) -> Json:
    attributes = {"title": f"{prefix}-{index}", "timeFieldName": time}
    return {"id": f"{prefix}-{index}", "type": "index-pattern", "attributes": attributes, "references": []}


def search(prefix: str, row: Tuple[str, str, str, str, List[str], str]) -> Json:
    name, title, index, query, columns, order = row
    source = {"query": {"query": query, "language": "lucene"}, "filter": [], "indexRefName": "index"}
    attributes = {
        "title": title,
        "columns": columns,
        "sort": [[order, "desc"]],
        "version": 1,
        "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps(source)},
    }
    references = [{"name": "index", "type": "index-pattern", "id": f"{prefix}-{index}"}]
    return {"id": f"{prefix}-{name}", "type": "search", "attributes": attributes, "references": references}


def dashboard(prefix: str, name: str, title: str, parts: List[str]) -> Json:
    """Two panels next to each other."""
    searches = {row[0] for row in SEARCHES}
    panels, references = [], []
    for number, part in enumerate(parts):
        grid = {"x": number % 2 * 24, "y": number // 2 * 15, "w": 24, "h": 15, "i": str(number)}
        panels.append({"gridData": grid, "panelIndex": str(number), "embeddableConfig": {}, "panelRefName": f"panel_{number}"})
        references.append({"name": f"panel_{number}", "type": "search" if part in searches else "visualization", "id": f"{prefix}-{part}"})
    attributes = {
        "title": title,
        "panelsJSON": json.dumps(panels),
        "optionsJSON": "{}",
        "timeRestore": True,
        "timeFrom": "now-30d",
        "timeTo": "now",
        "version": 1,
        "kibanaSavedObjectMeta": {"searchSourceJSON": json.dumps({"query": {"query": "", "language": "lucene"}, "filter": []})},
    }
    return {"id": f"{prefix}-dashboard-{name}", "type": "dashboard", "attributes": attributes, "references": references}


def objects(prefix: str) -> Iterator[Json]:
    yield from (pattern(prefix, index, time) for index, time in PATTERNS)
    yield from (picture.object(prefix) for picture in PICTURES)
    yield from (search(prefix, row) for row in SEARCHES)
    yield from (dashboard(prefix, *row) for row in DASHBOARDS)


def main() -> None:
    for one in objects(sys.argv[1] if len(sys.argv) > 1 else "spark"):
        print(json.dumps(one, sort_keys=True))


if __name__ == "__main__":
    main()
