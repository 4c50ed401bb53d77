"""What to do: one list of actions that covers all findings, each simulated once, over every recorded log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, binary_path, run_command

LOGS = sorted(ROOT.glob("corpus/logs/*.zst"))


def report_of(path: Path) -> dict:
    run = run_command([str(binary_path()), "diagnose", "-f", "json", str(path)])
    assert run.exit == 0, run.explain()
    return json.loads(run.out)


def saved(path: Path, config: dict[str, str]) -> dict[str, int]:
    """What whatif says of these settings."""
    words = [word for key, value in config.items() for word in ("--set", f"{key}={value}")]
    run = run_command([str(binary_path()), "whatif", "-f", "json", *words, str(path)])
    assert run.exit == 0, run.explain()
    answer = json.loads(run.out)
    wall, base = answer["scenarios"][0]["wall_ms"], answer["base"]["replayed_ms"]
    return {"low": base - wall["high"], "expected": base - wall["expected"], "high": base - wall["low"]}


@pytest.mark.every_log
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_actions_cover_what_was_found(path: Path) -> None:
    report = report_of(path)
    findings = {finding["id"]: finding for finding in report["findings"]}
    loud = {id for id, finding in findings.items() if finding["severity"] != "low"}
    actions = report["actions"]
    cured = [id for action in actions for id in action["cures"]]
    assert loud <= set(cured) <= set(findings)
    assert len({action["id"] for action in actions}) == len(actions)
    given: dict[str, str] = {}
    for action in actions:
        assert action["cures"] and action["title"] and action["title"] in action["text"]
        assert (action["kind"] == "settings") == bool(action["config"])
        assert not set(action["config"]) & set(given), "a setting stands in one action"
        given |= action["config"]
    assert given == report["config_changes"], "the actions are the recommended configuration"
    # What failed the application or its jobs first, then what saves most.
    saves = [action["saves"]["wall_ms"]["expected"] for action in actions]
    first = 0
    while saves[first:] != sorted(saves[first:], reverse=True):
        assert "critical" in {findings[id]["severity"] for id in actions[first]["cures"]}
        first += 1
    if not actions:
        assert report["together"] is None


@pytest.mark.parametrize("name", ["aqe_off", "coalesce_off", "data_skew", "locality_wait", "executor_churn"])
def test_an_action_saves_what_whatif_says(name: str) -> None:
    path = ROOT / "corpus" / "logs" / f"{name}.zst"
    for action in report_of(path)["actions"]:
        if action["saves"]["basis"] == "settings":
            assert action["saves"]["wall_ms"] == {
                key: max(value, 0) for key, value in saved(path, action["config"]).items()
            }, action["id"]


def test_three_findings_and_one_action() -> None:
    """Two stages with too many partitions and adaptive execution without coalescing: one setting does it."""
    report = report_of(ROOT / "corpus" / "logs" / "coalesce_off.zst")
    (action,) = report["actions"]
    assert len(action["cures"]) == 3


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_the_report_begins_with_what_to_do(form: str) -> None:
    path = ROOT / "corpus" / "logs" / "aqe_off.zst"
    run = run_command([str(binary_path()), "diagnose", "-f", form, "--width", "200", str(path)])
    text = run.out.decode()
    actions = report_of(path)["actions"]
    places = [text.upper().index("WHAT TO DO")]
    places += [text.index(f"{number}. {action['title']}"[:60]) for number, action in enumerate(actions, 1)]
    places.append(text.index("All of it together: "))
    places.append(text.upper().index("CRITICAL ISSUES"))
    assert places == sorted(places)
    for action in actions:
        for key, value in action["config"].items():
            assert f"{key}={value}" in text[places[0] : places[-1]]
