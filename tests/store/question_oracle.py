"""What a question must give, in plain Python over the rows of an SQLite store's views. Shares no code with Pyrometer."""

from __future__ import annotations

import math
import re
import sqlite3
from functools import cmp_to_key
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

ROOT = Path(__file__).resolve().parents[2]
Row = Dict[str, Any]
OF_RUNS = ("runs", "findings", "usage", "allocations", "advice")
# The views, with what orders their rows: of two lists that is a number which only the table has.
STATEMENTS = {
    "runs": "SELECT *, 0 AS place FROM runs",
    "findings": "SELECT app_id, attempt, f.*, position AS place FROM run_finding f JOIN run r ON r.key = run",
    "usage": "SELECT *, start_ms AS place FROM usage",
    "allocations": "SELECT *, 0 AS place FROM allocations",
    "advice": "SELECT app_id, attempt, a.*, position AS place FROM run_advice a JOIN run r ON r.key = run",
    "errors": "SELECT *, key AS place FROM error",
    "suggestions": "SELECT *, id AS place FROM suggestions",
    "cluster": "SELECT *, name AS place FROM cluster",
    "days": "SELECT *, application AS place FROM days",
}


class Ranked(NamedTuple):
    """A percentile: all values in order, and the place of the one that is meant."""

    values: List[float]
    rank: int


class Viewer(NamedTuple):
    user: str
    groups: Tuple[str, ...] = ()
    always: bool = False


def fields_of() -> Dict[str, List[str]]:
    table = (ROOT / "src" / "store" / "query_fields.def").read_text(encoding="utf-8")
    found: Dict[str, List[str]] = {}
    for owner, field in re.findall(r"^PYRO_QUERY_FIELD\((\w+), (\w+),", table, re.M):
        found.setdefault(owner.lower(), []).append(field)
    return found


def named(text: Optional[str]) -> List[str]:
    return [one.strip() for one in (text or "").split(",") if one.strip()]


class Oracle:
    def __init__(self, store: Path) -> None:
        with sqlite3.connect(store) as db:
            db.row_factory = sqlite3.Row
            self.lists: Dict[str, List[Row]] = {name: [dict(row) for row in db.execute(text)] for name, text in STATEMENTS.items()}
            self.named: Dict[str, Dict[Tuple[str, str], Row]] = {"agg": {}, "property": {}, "tag": {}}
            for kind, view, key in (("agg", "aggregates", "name"), ("property", "properties", "key"), ("tag", "tags", "key")):
                for row in db.execute(f"SELECT app_id, attempt, {key} AS key, value FROM {view}"):
                    self.named[kind].setdefault((row["app_id"], row["attempt"]), {})[row["key"]] = row["value"]
            self.access = {
                (row["app_id"], row["attempt"]): dict(row) for row in db.execute("SELECT * FROM run_access JOIN run ON run = key")
            }
        self.fields = fields_of()
        self.runs = {(row["app_id"], row["attempt"]): row for row in self.lists["runs"]}

    # ---- Rows --------------------------------------------------------------------------------------------------------

    def value(self, source: str, row: Row, field: str) -> Any:
        if source in OF_RUNS:
            run = (row["app_id"], row["attempt"])
            kind, _, key = field.partition(".")
            if kind in self.named and key:
                return self.named[kind].get(run, {}).get(key)
            if field not in self.fields[source]:
                return self.runs[run][field]
        return row[field]

    def sees(self, source: str, row: Row, viewer: Optional[Viewer]) -> bool:
        if viewer is None:
            return True
        if source not in OF_RUNS:
            return False
        run = (row["app_id"], row["attempt"])
        if viewer.user and self.runs[run]["user"] == viewer.user:
            return True
        lists = self.access.get(run)
        if lists is None:
            return False
        if not lists["enabled"] and not viewer.always:
            return True
        users = named(lists["view_users"]) + named(lists["admin_users"])
        groups = named(lists["view_groups"]) + named(lists["admin_groups"])
        return viewer.user in users or "*" in users + groups or bool(set(groups) & set(viewer.groups))

    def holds(self, source: str, row: Row, condition: Row) -> bool:
        value, wanted, op = self.value(source, row, condition["field"]), condition["value"], condition["op"]
        if op == "exists":
            return (value is not None) == wanted
        if op == "!=":
            return bool(value != wanted)
        if value is None:
            return False
        if isinstance(value, str):
            value, wanted = value.encode(), [one.encode() for one in wanted] if op == "in" else wanted.encode()
        tests: Dict[str, Callable[[Any, Any], bool]] = {
            "=": lambda a, b: a == b,
            "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
            ">": lambda a, b: a > b,
            ">=": lambda a, b: a >= b,
            "in": lambda a, b: a in b,
            "prefix": lambda a, b: a.startswith(b),
        }
        return tests[op](value, wanted)

    def rows(self, question: Row, viewer: Optional[Viewer]) -> List[Row]:
        source = question["from"]
        conditions = question.get("where", [])
        return [
            row
            for row in self.lists[source]
            if self.sees(source, row, viewer) and all(self.holds(source, row, one) for one in conditions)
        ]

    # ---- Groups and measures -----------------------------------------------------------------------------------------

    def group(self, source: str, row: Row, level: Row) -> Tuple[bool, Any]:
        """Whether the row is in a group, and in which."""
        value = self.value(source, row, level["field"])
        if "edges" in level:
            edges = level["edges"]
            found = [low for low, high in zip(edges, edges[1:]) if value is not None and low <= value < high]
            return bool(found), found[0] if found else None
        if "every_ms" in level and value is not None:
            value = math.floor(value / level["every_ms"]) * level["every_ms"] if isinstance(value, float) else value // level["every_ms"] * level["every_ms"]
        return True, value

    def measure(self, source: str, rows: List[Row], measure: Row) -> List[Any]:
        op = measure["op"]
        if op == "count" and "field" not in measure:
            return [len(rows)]
        pairs = [(self.value(source, row, measure["field"]), self.value(source, row, measure["weight"]) if "weight" in measure else 1) for row in rows]
        pairs = [pair for pair in pairs if None not in pair]
        values = [value for value, _ in pairs]
        if op == "count":
            return [len(values)]
        if op == "percentiles":
            values.sort()
            return [Ranked(values, max(math.ceil(at * len(values) / 100), 1) - 1) if values else None for at in measure["at"]]
        if not values:
            return [None]
        if op in ("min", "max"):
            return [min(values) if op == "min" else max(values)]
        products = [value * weight for value, weight in pairs]
        total = sum(products) if all(isinstance(one, int) for one in products) else math.fsum(products)
        if op == "sum":
            return [total]
        weights = math.fsum(weight for _, weight in pairs)
        return [total / weights if weights else None]

    # ---- Answers -----------------------------------------------------------------------------------------------------

    def answer(self, question: Row, viewer: Optional[Viewer] = None) -> Tuple[List[str], List[List[Any]]]:
        """Columns, and all rows in order."""
        source, rows = question["from"], self.rows(question, viewer)
        order = question.get("order", {})
        lines: List[Tuple[List[Any], List[Any]]] = []  # what a row is ordered by, and the row
        if "fields" in question:
            columns = list(question["fields"])
            for row in rows:
                run = self.runs[(row["app_id"], row["attempt"])] if source in OF_RUNS else None
                keys = [run["start_ms"], run["app_id"], run["attempt"]] if run else [row["time_ms"]]
                keys += [row["app_id"]] if source == "errors" else [row["source"]] if source == "cluster" else []
                lines.append(([*keys, row["place"]], [self.value(source, row, field) for field in columns]))
        else:
            columns = [level["field"] for level in question.get("group", [])]
            for measure in question["measures"]:
                columns += [f"{measure['as']}.{at:g}" for at in measure["at"]] if measure["op"] == "percentiles" else [measure["as"]]
            groups: Dict[Tuple[Any, ...], List[Row]] = {} if question.get("group") else {(): []}
            for row in rows:
                placed = [self.group(source, row, level) for level in question.get("group", [])]
                if all(inside for inside, _ in placed):
                    groups.setdefault(tuple(value for _, value in placed), []).append(row)
            for group, members in groups.items():
                line: List[Any] = list(group)
                for measure in question["measures"]:
                    line += self.measure(source, members, measure)
                lines.append((list(group), line))
        if "by" in order:
            at = columns.index(order["by"])
            lines = [([line[at], *keys], line) for keys, line in lines]
        lines.sort(key=cmp_to_key(lambda a, b: compare(a[0], b[0])), reverse=order.get("descending", False))
        return columns, [line for _, line in lines]


def compare(left: List[Any], right: List[Any]) -> int:
    for one, other in zip(left, right):
        if isinstance(one, Ranked) and isinstance(other, Ranked):
            one, other = one.values[one.rank], other.values[other.rank]
        if isinstance(one, str) and isinstance(other, str):
            one, other = one.encode(), other.encode()
        if one is None or other is None:
            if (one is None) != (other is None):
                return -1 if one is None else 1
        elif one != other:
            return -1 if one < other else 1
    return 0
