#!/usr/bin/env python3
"""Ids of rules and findings stay the same, whatever their texts say: stores, gates and suppressions name them.

After a change that adds or removes rules or findings on purpose, write the list again:

    python3 tests/e2e/test_finding_ids.py --write
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import pytest  # noqa: E402
from conftest import binary_path, log_paths, of_log, run_command, run_on_log  # noqa: E402

IDS = Path(__file__).with_name("finding_ids.json")


def logs() -> List[Path]:
    return log_paths(ROOT / "corpus" / "logs") + log_paths(ROOT / "tests" / "logs")


def name_of(log: Path) -> str:
    return log.relative_to(ROOT).as_posix()


def rule_ids() -> List[str]:
    run = run_command([str(binary_path()), "rules", "--format", "json"])
    assert run.exit == 0, run.explain()
    return sorted(rule["id"] for rule in run.json["rules"])


def finding_ids(log: Path) -> List[str]:
    run = run_on_log(log)
    assert run.exit == 0, run.explain()
    return sorted(finding["id"] for finding in run.json["findings"])


def listed() -> Dict[str, Any]:
    content: Dict[str, Any] = json.loads(IDS.read_text(encoding="utf-8"))
    return content


def test_rule_ids() -> None:
    assert rule_ids() == listed()["rules"]


def test_every_log_is_listed() -> None:
    assert sorted(listed()["findings"]) == sorted(map(name_of, logs()))


@pytest.mark.parametrize("log", [pytest.param(log, id=name_of(log), marks=[of_log(name_of(log)), pytest.mark.every_log]) for log in logs()])
def test_finding_ids(log: Path) -> None:
    assert finding_ids(log) == listed()["findings"].get(name_of(log))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    content = {"rules": rule_ids(), "findings": {name_of(log): finding_ids(log) for log in logs()}}
    IDS.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
