"""Recorded runs with one bad setting each, and their twins: what docs/accuracy.md says of them is what reports say now."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import ROOT

SETTINGS = ROOT / "corpus" / "settings"
sys.path.insert(0, str(SETTINGS))
import accuracy  # noqa: E402
from cases import CASES, PROPERTIES  # noqa: E402

# At least, in recorded runs: development, held-out.
RECALL = {False: 0.95, True: 0.9}


@pytest.fixture(scope="module")
def judged(binary: str) -> List[Dict[str, Any]]:
    recorded = json.loads((SETTINGS / "logs" / "runs.json").read_text(encoding="utf-8"))
    return [accuracy.judge(Path(binary), SETTINGS / "logs", name, row) for name, row in sorted(recorded.items())]


def test_cases() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) and len(PROPERTIES) >= 60
    for case in CASES:
        assert case.held_out == (PROPERTIES.index(case.key) % 3 == 2)
        assert case.conf(True) != case.conf(False)


def test_every_log_has_its_case(judged: List[Dict[str, Any]]) -> None:
    logs = {path.stem for path in (SETTINGS / "logs").glob("*.zst")}
    assert logs == {row["name"] for row in judged} | {row["twin"] for row in judged}


@pytest.mark.parametrize("held_out", [False, True])
def test_values_that_cost_are_named(judged: List[Dict[str, Any]], held_out: bool) -> None:
    slower = [row for row in judged if row["effect"] and row["held_out"] == held_out]
    missed = [row["name"] for row in slower if not row["named"]]
    assert len(missed) <= (1 - RECALL[held_out]) * len(slower), missed


def test_defaults_are_never_blamed(judged: List[Dict[str, Any]]) -> None:
    assert [row["twin"] for row in judged if row["twin_named"]] == []


def test_the_page_is_current(judged: List[Dict[str, Any]]) -> None:
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    assert "\n".join(accuracy.table(judged)) in page
    assert "\n".join(accuracy.costs(judged)) in page
