"""Key numbers of the SQL plans in an event log, from what Spark itself wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

Event = dict[str, Any]
JOINS = (
    "SortMergeJoin",
    "ShuffledHashJoin",
    "BroadcastHashJoin",
    "BroadcastNestedLoopJoin",
    "CartesianProduct",
)


def walk(node: Event) -> Iterator[Event]:
    """Yield the operators of a plan that ran for it: not those of reused exchanges and cached tables."""
    yield node
    if node["nodeName"] in ("ReusedExchange", "InMemoryTableScan"):
        return
    for child in node.get("children", []):
        yield from walk(child)


class Plans:
    """The newest plan of each execution and the totals of its metrics."""

    def __init__(self) -> None:
        self.newest: dict[int, Event] = {}
        self.totals: dict[int, int] = {}
        self.driver: dict[int, int] = {}

    def feed(self, event: Event) -> None:
        """Take in one event."""
        kind = event["Event"].rsplit(".", 1)[-1]
        if "sparkPlanInfo" in event:
            self.newest[event["executionId"]] = event["sparkPlanInfo"]
        elif kind == "SparkListenerStageCompleted":
            for accumulable in event["Stage Info"]["Accumulables"]:
                if accumulable.get("Metadata") == "sql":
                    self.totals[accumulable["ID"]] = int(accumulable["Value"])
        elif kind == "SparkListenerDriverAccumUpdates":
            for ident, value in event["accumUpdates"]:
                self.driver[ident] = self.driver.get(ident, 0) + value

    def metric(self, node: Event, name: str) -> int | None:
        """Return the total of one metric of an operator."""
        for metric in node.get("metrics", []):
            ident = metric["accumulatorId"]
            if metric["name"] == name and (ident in self.totals or ident in self.driver):
                return max(0, self.totals.get(ident, 0)) + max(0, self.driver.get(ident, 0))
        return None

    def rows(self, node: Event) -> int:
        """Return the rows that leave an operator: its own count or that of the first below it that counts."""
        for name in ("number of output rows", "shuffle records written"):
            rows = self.metric(node, name)
            if rows is not None:
                return rows
        return max((self.rows(child) for child in node.get("children", [])), default=0)

    def side_bytes(self, node: Event) -> int | None:
        """Return the data size of the first exchange at or below an operator."""
        for below in walk(node):
            if below["nodeName"] == "Exchange":
                return self.metric(below, "data size")
        return None

    def summary(self) -> dict[str, Any]:
        """Return the key numbers of all plans together."""
        joins: Counter[str] = Counter()
        scans: Counter[str] = Counter()
        sides: list[tuple[int, int]] = []
        broadcasts, pairs, growth = [0], [0], [(0.0, 0)]
        for plan in self.newest.values():
            for node in walk(plan):
                name, children = node["nodeName"], node.get("children", [])
                if name in JOINS:
                    joins[name] += 1
                if name == "SortMergeJoin" and len(children) == 2:
                    both = [self.side_bytes(child) for child in children]
                    if None not in both:
                        sides.append((min(both), max(both)))
                if name in ("BroadcastNestedLoopJoin", "CartesianProduct") and len(children) == 2:
                    pairs.append(self.rows(children[0]) * self.rows(children[1]))
                if name in (*JOINS, "Generate", "Expand"):
                    out = self.metric(node, "number of output rows") or 0
                    most = max((self.rows(child) for child in children), default=0)
                    growth.append((round(out / max(1, most), 1), out))
                if name == "BroadcastExchange":
                    broadcasts.append(self.metric(node, "data size") or 0)
                if name.startswith("Scan ") and "Location" in node.get("metadata", {}):
                    scans[node["metadata"]["Location"]] += 1
        return {
            "joins": dict(sorted(joins.items())),
            "sorted_join_sides_bytes": max(sides, default=None, key=lambda side: side[1]),
            "largest_broadcast_bytes": max(broadcasts),
            "most_pairs": max(pairs),
            "most_growth": max(growth),
            "most_scans_of_a_table": max(scans.values(), default=0),
        }
