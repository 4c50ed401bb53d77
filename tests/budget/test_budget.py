"""What commands on fixed logs cost stays within 3 % of tests/budget/budget.tsv."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import List

import pytest


sys.path.insert(0, str(Path(__file__).parent))

import budget  # noqa: E402

QUICK = ("version", "diagnose-small", "diagnose-plain", "sql")  # the others are left to ./dev test
OLD = budget.Row(budget.Cost(1_000_000, 50_000), "why")


def rows() -> List[pytest.param]:
    """Half of them on each of two workers."""
    return [
        pytest.param(name, marks=[pytest.mark.xdist_group(f"budget {at % 2}"), *([] if name in QUICK else [pytest.mark.slow])])
        for at, name in enumerate(budget.COMMANDS)
    ]


@pytest.mark.parametrize("name", rows())
def test_a_command_costs_what_the_table_says(name: str, binary: str) -> None:
    reason = budget.why_not_here(Path(binary))
    if reason is not None:
        pytest.skip(f"the budget: {reason}")
    above, below = budget.compare(name, budget.read_table()[name], budget.measure(Path(binary), budget.COMMANDS[name]))
    assert not above, "\n".join(above)
    for line in below:
        warnings.warn(line, stacklevel=1)


@pytest.mark.parametrize(
    ("cost", "above", "below"),
    [
        ((1_030_000, 51_500), 0, 0),
        ((1_030_001, 51_501), 2, 0),
        ((970_000, 48_500), 0, 0),
        ((969_999, 50_000), 0, 1),
        ((969_999, 51_501), 1, 1),
    ],
)
def test_three_percent_are_allowed(cost: budget.Cost, above: int, below: int) -> None:
    found = budget.compare("sql", OLD, budget.Cost(*cost))
    assert tuple(map(len, found)) == (above, below)
    assert all("budget.py --update" in line for line in found[0] + found[1])


def test_the_table_has_every_command() -> None:
    table = budget.read_table()
    assert list(table) == list(budget.COMMANDS)
    assert all(row.reason and row.cost.instructions > 0 and row.cost.heap_bytes > 0 for row in table.values())


def test_another_build_is_told_from_the_one_that_was_measured() -> None:
    reason = budget.why_not_here(Path(sys.executable).resolve())
    assert reason is not None


def test_the_table_is_written_as_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = budget.read_table()
    before = budget.TABLE.read_bytes()
    monkeypatch.setattr(budget, "TABLE", tmp_path / "budget.tsv")
    budget.write_table(table)
    assert budget.TABLE.read_bytes() == before
