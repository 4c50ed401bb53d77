"""Numbers about caching: which RDDs were persisted, read again, computed again."""

from __future__ import annotations

import re
from typing import Any

Event = dict[str, Any]


class CacheNumbers:
    """What stages say about the RDDs they compute, and their tasks about the bytes they read."""

    def __init__(self) -> None:
        self.stages: dict[int, tuple[set[int], set[int]]] = {}  # all RDDs and the persisted ones
        self.read: dict[int, dict[int, int]] = {}  # stage -> partition -> bytes
        self.plans: dict[int, Event] = {}
        self.queries: dict[int, str] = {}  # stage -> its query, or else its job

    def feed(self, kind: str, event: Event) -> None:
        """Take in one event."""
        if kind == "SparkListenerStageSubmitted":
            info = event["Stage Info"]
            rdds = info["RDD Info"]
            every = {rdd["RDD ID"] for rdd in rdds}
            levels = {rdd["RDD ID"]: rdd["Storage Level"] for rdd in rdds}
            kept = {i for i, level in levels.items() if level["Use Memory"] or level["Use Disk"]}
            self.stages[info["Stage ID"]] = (every, kept)
        elif kind == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            read = self.read.setdefault(event["Stage ID"], {})
            read[event["Task Info"]["Index"]] = event["Task Metrics"]["Input Metrics"]["Bytes Read"]
        elif kind == "SparkListenerJobStart":
            query = event.get("Properties", {}).get("spark.sql.execution.id")
            for stage in event["Stage IDs"]:
                self.queries.setdefault(stage, f"query {query}" if query else f"job {event['Job ID']}")
        elif "sparkPlanInfo" in event:
            self.plans[event["executionId"]] = event["sparkPlanInfo"]

    def missed_share(self) -> float | None:
        """Return the share of tasks that found no cached block though an earlier stage had made it.

        Such a task reads nothing, or as many bytes from files as the task that made the block.
        """
        built: dict[int, dict[int, int]] = {}
        tasks = missed = 0
        for stage in sorted(self.stages):
            kept = self.stages[stage][1]
            read = self.read.get(stage, {})
            if not kept or not read:
                continue
            newest = max(kept)
            if newest not in built:
                built[newest] = read
                continue
            for index, size in read.items():
                before = built[newest].get(index, 0)
                tasks += 1
                missed += size == 0 or (before > 0 and abs(size - before) < 0.02 * before)
        return round(missed / tasks, 3) if tasks else None

    def most_computed_rdd(self) -> int:
        """Return how many stages computed the same RDD with nothing persisted in any of them."""
        counts: dict[int, int] = {}
        for every, kept in self.stages.values():
            for rdd in every if not kept else ():
                counts[rdd] = counts.get(rdd, 0) + 1
        return max(counts.values(), default=0)

    def most_computed_join(self) -> int:
        """Return how many executions aggregate or join the same table with the same keys."""
        counts: dict[str, int] = {}
        for plan in self.plans.values():
            for text in {self.text_of(node) for node in nodes_of(plan)}:
                if text.startswith(("HashAggregate(keys=[", "SortMergeJoin", "BroadcastHashJoin")):
                    counts[text] = counts.get(text, 0) + 1
        return max((n for t, n in counts.items() if not t.startswith("HashAggregate(keys=[],")), default=0)

    def text_of(self, node: Event) -> str:
        """Return an operator's text without ids that differ from plan to plan, for aggregates the keys."""
        text = re.sub(r"#\d+L?|plan_id=\d+", "", node["simpleString"])
        return text.split(", functions")[0] if text.startswith("HashAggregate") else text

    def summary(self) -> dict[str, Any]:
        """Return the key numbers."""
        users: dict[int, set[str]] = {}
        for stage, (_, rdds) in self.stages.items():
            for rdd in rdds:
                users.setdefault(rdd, set()).add(self.queries.get(stage, f"stage {stage}"))
        return {
            "persisted": len(users),
            "persisted_used_once": sum(len(names) == 1 for names in users.values()),
            "cache_missed_share": self.missed_share(),
            "most_computed_rdd": self.most_computed_rdd(),
            "most_computed_join": self.most_computed_join(),
        }


def nodes_of(plan: Event) -> list[Event]:
    """Return all operators of a plan."""
    return [plan] + [node for child in plan.get("children", []) for node in nodes_of(child)]
