"""Operators of SQL plans as docs/plans.md has them: rows, metrics and stages, read from the log's lines in the plain way."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Iterator, List, Set, Tuple

Event = Dict[str, Any]
REUSED = ("ReusedExchange",)


class Execution:
    """The newest plan of one SQL execution, and the stages that it ran."""

    def __init__(self) -> None:
        self.nodes: List[Tuple[Event, bool]] = []  # parents first; whether below a reused exchange
        self.stages: Dict[int, Set[int]] = {}  # stage id -> accumulators that it updated


def walk(node: Event, repeated: bool = False) -> Iterator[Tuple[Event, bool]]:
    yield node, repeated
    for child in node.get("children", []):
        yield from walk(child, repeated or node["nodeName"] in REUSED)


class Plans:
    """All executions of a log."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self.executions: Dict[int, Execution] = {}
        self.tasks: Dict[int, int] = {}
        self.driver: Dict[int, int] = {}
        jobs: Dict[int, int] = {}  # stage id -> SQL execution of the first job that lists it
        completed: List[Event] = []
        for line in lines:
            event = json.loads(line)
            kind = event["Event"].rsplit(".", 1)[-1]
            if event.get("sparkPlanInfo"):
                execution = self.executions.setdefault(event["executionId"], Execution())
                execution.nodes = list(walk(event["sparkPlanInfo"]))
            elif kind == "SparkListenerJobStart":
                sql = (event.get("Properties") or {}).get("spark.sql.execution.id")
                for stage in event["Stage IDs"] if sql is not None else []:
                    jobs.setdefault(stage, int(sql))
            elif kind == "SparkListenerStageCompleted":
                completed.append(event["Stage Info"])
            elif kind == "SparkListenerDriverAccumUpdates":
                for ident, value in event["accumUpdates"]:
                    self.driver[ident] = self.driver.get(ident, 0) + value
        for info in completed:
            ids = set()
            for accumulable in info["Accumulables"]:
                if accumulable.get("Metadata") == "sql":
                    self.tasks[accumulable["ID"]] = int(accumulable["Value"])
                    ids.add(accumulable["ID"])
            sql = jobs.get(info["Stage ID"])
            if sql in self.executions:
                self.executions[sql].stages.setdefault(info["Stage ID"], set()).update(ids)

    def total(self, accumulator: int) -> int | None:
        """Return what tasks and driver added up for one accumulator; None when the log has nothing."""
        if accumulator not in self.tasks and accumulator not in self.driver:
            return None
        return max(0, self.tasks.get(accumulator, 0)) + max(0, self.driver.get(accumulator, 0))

    def rows(self, node: Event) -> int | None:
        """Return an operator's own count of its output rows."""
        counts = [
            self.total(metric["accumulatorId"])
            for metric in node.get("metrics", [])
            if metric["name"] == "number of output rows"
        ]
        return max((count for count in counts if count is not None), default=None)

    def stages(self, sql: int, node: Event) -> List[int]:
        """Return the stages of the execution that updated one of the operator's metrics."""
        own = {metric["accumulatorId"] for metric in node.get("metrics", [])}
        return sorted(stage for stage, ids in self.executions[sql].stages.items() if ids & own)
