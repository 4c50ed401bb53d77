"""Questions that every kind of store answers alike: each list, operation, kind of group, measure and order."""

from __future__ import annotations

from typing import Any, Dict, List

from fleet_logs import DAY_MS, FIRST_MS
from question_oracle import fields_of

Question = Dict[str, Any]
COUNT = {"as": "n", "op": "count"}
INPUT = "agg.stages.inputBytes.max"
MEMORY = "property.spark.executor.memory"
PARTITIONS = "property.spark.sql.shuffle.partitions"
LATER = FIRST_MS + 10 * DAY_MS
# Not the same in two stores.
OWN = {"recorded_ms", "path", "message", "raw"}


def where(field: str, op: str, value: Any) -> Dict[str, Any]:
    return {"field": field, "op": op, "value": value}


def rows(source: str, fields: List[str], *conditions: Dict[str, Any], **more: Any) -> Question:
    return {"from": source, "fields": fields, "where": list(conditions), **more}


def groups(source: str, by: List[Any], *measures: Dict[str, Any], **more: Any) -> Question:
    levels = [one if isinstance(one, dict) else {"field": one} for one in by]
    return {"from": source, "group": levels, "measures": list(measures) or [COUNT], **more}


def measure(op: str, field: str, **more: Any) -> Dict[str, Any]:
    return {"as": op, "op": op, "field": field, **more}


def whole_lists() -> List[Question]:
    """Every field of every list, as rows, and how often each is known."""
    made = []
    for source, fields in fields_of().items():
        shown = [field for field in fields if field not in OWN]
        made.append(rows(source, shown))
        made.append(rows(source, shown, order={"descending": True}, limit=9))
        made.append(groups(source, [], COUNT, *({"as": field, "op": "count", "field": field} for field in fields)))
    return made


def conditions() -> List[Question]:
    """Every operation on every kind of field."""
    tests = [where("user", op, "etl") for op in ("=", "!=", "<", "<=", ">", ">=")]
    tests += [where("start_ms", op, LATER) for op in ("=", "!=", "<", "<=", ">", ">=")]
    tests += [where("core_ms", op, 200_000) for op in ("=", "!=", "<", "<=", ">", ">=")]
    tests += [where("core_ms", op, 200_000.5) for op in ("<", ">")]
    tests += [where("confidence", op, 0.999) for op in ("<", "<=", ">", ">=")]
    tests += [where("is_final_attempt", "=", value) for value in (True, False, 1)]
    tests += [where("is_final_attempt", "!=", True)]
    tests += [where(INPUT, op, 1_000_000) for op in ("=", "!=", "<", "<=", ">", ">=")]
    tests += [where(MEMORY, op, "2g") for op in ("=", "!=", "<", ">=")]
    tests += [where("tag.team", op, "blue") for op in ("=", "!=", "<", ">")]
    tests += [where(field, "exists", known) for field in ("end_ms", "queue", "agg.driver.totalCores", PARTITIONS, "tag.team") for known in (True, False)]
    tests += [where("agg.no.such", "exists", False), where("agg.no.such", "=", 0), where("property.no.such", "!=", "x")]
    tests += [where("name", "in", ["etl daily", "Überprüfung", "none"]), where("status", "in", ["completed"]), where("core_ms", "in", [1, 2, 3])]
    tests += [where(MEMORY, "in", ["1g", "4g"]), where("tag.team", "in", ["red", "blue"]), where(INPUT, "in", [0, 1.5])]
    tests += [where("name", "prefix", text) for text in ("etl", "Ü", "a_b%", "z", "")]
    tests += [where(MEMORY, "prefix", "2"), where("tag.team", "prefix", "b"), where("app_id", "prefix", "application_17672256000")]
    made = [rows("runs", ["app_id", "attempt", test["field"]] if test["field"] != "app_id" else ["app_id"], test) for test in tests]
    made += [groups("findings", [], COUNT, where=[test]) for test in tests if test["op"] in ("=", "!=")]
    made.append(rows("runs", ["app_id"], where("user", "=", "ann"), where("start_ms", ">=", LATER), where(MEMORY, "!=", "1g")))
    made.append(rows("findings", ["app_id", "id"], where("rule", "in", ["data-skew", "slow-write"]), where("user", "!=", "bob")))
    made.append(rows("errors", ["app_id"], where("step", "=", "read"), where("time_ms", ">", 0)))
    made.append(rows("cluster", ["name", "value"], where("value", "<", 0)))
    return made


def grouped() -> List[Question]:
    """Every kind of group, alone and in pairs."""
    day, hour = {"field": "start_ms", "every_ms": DAY_MS}, {"field": "start_ms", "every_ms": 3_600_000}
    edges = {"field": "duration_ms", "edges": [0, 40_000, 100_000, 200_000.5, 1e9]}
    inputs = {"field": INPUT, "edges": [-1, 0, 1, 1e6, 1e9]}
    by: List[List[Any]] = [[field] for field in ("name", "user", "status", "attempt", "queue", "is_final_attempt", "duration_ms", "confidence")]
    by += [["end_ms"], [INPUT], ["agg.no.such"], [MEMORY], [PARTITIONS], ["tag.team"], ["property.no.such"], [day], [hour], [edges], [inputs]]
    by += [[{"field": INPUT, "every_ms": 1000}], [{"field": "end_ms", "every_ms": 7}], [{"field": "core_ms", "every_ms": 100_000}]]
    by += [["user", "name"], ["user", day], [day, "user"], [MEMORY, "tag.team"], [PARTITIONS, edges], [edges, inputs], ["status", "queue"]]
    made = [groups("runs", one, COUNT, measure("sum", "core_ms")) for one in by]
    made += [groups(source, ["user"], COUNT) for source in ("findings", "usage", "allocations", "advice")]
    made += [groups("findings", one, COUNT, measure("max", "saves_ms")) for one in (["rule"], ["severity", "rule"], ["folded"], ["stage"], [MEMORY, "rule"], [day])]
    made += [groups("usage", one, measure("sum", "core_ms"), {**measure("sum", "busy_core_ms"), "as": "busy"}) for one in ([hour], ["user", hour], [day], [MEMORY])]
    made += [groups("advice", one, COUNT) for one in (["key"], ["key", "value"], ["previous"], [{"field": "saves_low_ms", "every_ms": 1000}])]
    made += [groups("allocations", ["platform", "instance"], measure("sum", "core_ms")), groups("errors", ["step", "type"])]
    made += [groups("cluster", ["name"], measure("mean", "value"), measure("min", "value")), groups("suggestions", ["application", "state"])]
    made += [groups("cluster", [{"field": "value", "every_ms": 3}]), groups("cluster", [{"field": "time_ms", "every_ms": 60_000}, "name"], measure("sum", "value"))]
    made += [groups("days", ["application"], measure("sum", "runs"), {**measure("sum", "core_ms"), "as": "core"})]
    made += [groups("cluster", [{"field": "value", "edges": [-100, -2.5, 0, 2.5, 100]}])]
    return made


def measured() -> List[Question]:
    """Every measure on every kind of number, with groups and without."""
    at = {"at": [0, 5, 25, 50, 75, 95, 99.9, 100]}
    numbers = ["duration_ms", "start_ms", "confidence", INPUT, "agg.no.such", "is_final_attempt", "input_bytes", "end_ms"]
    made = []
    for field in numbers:
        ops = [measure(op, field) for op in ("count", "sum", "min", "max", "mean")] + [measure("percentiles", field, **at)]
        made.append(groups("runs", [], *ops))
        made.append(groups("runs", ["name"], *ops))
    for weight in ("core_ms", INPUT, "confidence", "agg.no.such", "is_final_attempt"):
        weighted = [measure("sum", "duration_ms", weight=weight), {**measure("mean", "confidence", weight=weight), "as": "m"}]
        made.append(groups("runs", ["user"], *weighted, measure("mean", "duration_ms", weight=weight)))
    made.append(groups("findings", ["rule"], COUNT, measure("sum", "saves_ms"), measure("percentiles", "saves_ms", at=[50])))
    made.append(groups("findings", [], measure("mean", "saves_core_ms", weight="confidence"), measure("sum", "duration_ms")))
    made.append(groups("usage", [], *(measure("sum", field) | {"as": field} for field in ("slot_ms", "mib_ms", "input_bytes", "shuffle_bytes"))))
    made.append(groups("usage", ["user"], measure("mean", "busy_core_ms", weight="span_ms"), measure("percentiles", "core_ms", at=[10, 90])))
    made.append(groups("cluster", [], measure("sum", "value"), measure("percentiles", "value", at=[1, 50])))
    made.append(groups("runs", [], COUNT, measure("sum", "core_ms"), where=[where("name", "=", "nobody's")]))
    made.append(groups("runs", ["user"], COUNT, where=[where("name", "=", "nobody's")]))
    return made


def ordered() -> List[Question]:
    """Orders by every kind of column, and limits: the test asks for further pages until the end."""
    made = []
    shown = ["app_id", "attempt", "name", "end_ms", "confidence", INPUT, PARTITIONS, "is_final_attempt"]
    for by in ("app_id", "name", "end_ms", "confidence", INPUT, PARTITIONS, "is_final_attempt"):
        made += [rows("runs", shown, order={"by": by, "descending": down}, limit=7) for down in (False, True)]
    made += [rows("findings", ["app_id", "rule", "saves_ms"], order={"by": "rule", "descending": down}, limit=11) for down in (False, True)]
    made += [rows(source, [field], order={"descending": True}, limit=5) for source, field in (("usage", "core_ms"), ("advice", "key"), ("cluster", "value"), ("days", "runs"), ("errors", "step"))]
    made += [rows("findings", ["rule"], limit=1, order={"by": "rule"}, where=[where("user", "=", "ann")])]
    many = [COUNT, measure("sum", "core_ms"), measure("percentiles", "duration_ms", at=[50]), measure("mean", INPUT)]
    for by in ("name", "user", "n", "sum", "percentiles.50", "mean"):
        made += [groups("runs", ["name", "user"], *many, order={"by": by, "descending": down}, limit=3) for down in (False, True)]
    made += [groups("runs", ["queue"], order={"by": "n"}, limit=1), groups("runs", [PARTITIONS], limit=2, order={"descending": True})]
    made += [groups("runs", [{"field": "start_ms", "every_ms": DAY_MS}], measure("max", "agg.no.such"), limit=4, order={"by": "max"})]
    return made


QUESTIONS: List[Question] = [*whole_lists(), *conditions(), *grouped(), *measured(), *ordered()]
# Asked as several users.
VIEWED: List[Question] = [
    rows("runs", ["app_id", "attempt", "user"]),
    rows("findings", ["app_id", "rule"], where("rule", "!=", "data-skew"), limit=10),
    groups("runs", ["user"], COUNT, measure("sum", "core_ms")),
    groups("usage", [], measure("sum", "core_ms")),
    groups("errors", ["step"]),
    groups("cluster", ["name"]),
]
