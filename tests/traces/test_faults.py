"""Faults of the machine, planted around real runs: each is named with its culprit, and healthy runs are silent."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Dict, List

import pytest
from conftest import binary_path, run_command
from recorded_traces import CASES, unpacked

RULES = {"cpu-contention", "cpu-throttled", "disk-bound", "network-bound", "kernel-lock", "page-faults", "small-io",
         "io-disturbed-by-spark"}
pytestmark = pytest.mark.slow


@lru_cache(maxsize=None)
def findings(name: str) -> List[Dict[str, Any]]:
    run = run_command([str(binary_path()), "diagnose", str(unpacked(name)), "--format", "json"])
    assert run.exit == 0, run.explain()
    return [finding for finding in run.json["findings"] if finding["rule"] in RULES]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.expected])
def test_planted_faults_are_found(name: str) -> None:
    found = {finding["rule"]: finding["cause"] for finding in findings(name)}
    case = CASES[name]
    assert set(case.expected) <= set(found), found
    for rule, culprit in case.culprit.items():
        assert culprit in found[rule]


@pytest.mark.parametrize("name", CASES)
def test_nothing_else_is_accused(name: str) -> None:
    case = CASES[name]
    assert {finding["rule"] for finding in findings(name)} <= {*case.expected, *case.allowed}, findings(name)


def test_without_its_trace_a_run_has_no_such_finding() -> None:
    folder = unpacked("cpu-hog")
    run = run_command([str(binary_path()), "diagnose", str(folder / "eventlog"), "--format", "json"])
    assert not [finding for finding in run.json["findings"] if finding["rule"] in RULES]
