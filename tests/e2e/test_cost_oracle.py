"""cost: the allocation of every log against the oracle, sums that are exact, bills worked out by hand."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any, Dict

from application import Application
from conftest import applications_of, run_on_log
from cost import TASK_PARTS, cells_of
from schemas import check

AMOUNTS = ("core_ms", "memory_mib_ms", "cost_micros")


def check_sums(document: Dict[str, Any]) -> None:
    """What must hold of every cost, to the last unit."""
    for amount in AMOUNTS:
        parts = {part["name"]: part[amount] for part in document["parts"]}
        assert sum(parts.values()) == document[amount]
        assert all(value >= 0 for value in parts.values())
        of_tasks = sum(parts[name] for name in TASK_PARTS)
        for rows in ("stages", "jobs", "sql", "pools", "groups"):
            assert sum(row[amount] for row in document[rows]) == of_tasks, rows
    for name in TASK_PARTS:
        total = next(part["core_ms"] for part in document["parts"] if part["name"] == name)
        assert sum(stage["parts"][name] for stage in document["stages"]) == total
    for stage in document["stages"]:
        assert sum(stage["parts"].values()) == stage["core_ms"]
    money = document["money"]
    assert sum(line["micros"] for line in money["lines"]) == money["total_micros"] == document["cost_micros"]


def check_core_time(document: Dict[str, Any], app: Application) -> None:
    cells, total = cells_of(app)
    parts = {part["name"]: part["core_ms"] for part in document["parts"]}
    assert sum(ms for name, ms in parts.items() if name != "driver") == total
    expected: Dict[str, Any] = defaultdict(int)
    for (_, part), ms in cells.items():
        expected[part] += ms
    stages = {(stage["id"], stage["attempt"]): stage["parts"] for stage in document["stages"]}
    # Each cell is rounded by less than one.
    for part in TASK_PARTS:
        assert abs(parts[part] - expected[part]) <= len(stages) + 1, part
    for (stage, part), ms in cells.items():
        got = stages.get(stage if stage is not None else (None, None), {}).get(part, 0)
        assert abs(got - ms) <= 1, (stage, part, got, float(ms))


def test_allocation_agrees_with_oracle(log_path: Path) -> None:
    run = run_on_log(log_path, "cost")
    if run.exit == 3:
        assert run.err.count(b"\n") == 1, run.explain()
        return
    assert run.exit == 0, run.explain()
    document = check(run.json, "pyrometer.cost-1.json")
    for entry in document["applications"]:
        check_sums(entry["cost"])
    applications = applications_of(log_path)
    if len(document["applications"]) == len(applications):
        for entry, application in zip(document["applications"], applications):
            check_core_time(entry["cost"], application)
