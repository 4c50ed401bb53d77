"""What to do: one list of actions that covers all findings, each simulated once, over every recorded log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import ROOT, binary_path, run_command

LOGS = sorted([*ROOT.glob("corpus/logs/*.zst"), *ROOT.glob("corpus/settings/logs/*.zst")])


def report_of(path: Path) -> dict:
    run = run_command([str(binary_path()), "diagnose", "-f", "json", str(path)])
    assert run.exit == 0, run.explain()
    return json.loads(run.out)


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
    # What failed the application or its jobs first, then what saves most; settings without a model have their place by
    # what the findings cost that they cure.
    priced = [action for action in actions if action["saves"]["basis"] or not action["config"]]
    saves = [action["saves"]["wall_ms"]["expected"] for action in priced]
    first = 0
    while saves[first:] != sorted(saves[first:], reverse=True):
        assert "critical" in {findings[id]["severity"] for id in priced[first]["cures"]}
        first += 1
    if not actions:
        assert report["together"] is None


def intervals_of(report: dict, finding: dict) -> list[tuple[int, int]]:
    """When the stages were active that a finding is about."""
    stages = {(stage["id"], stage["attempt"]): stage for stage in report["stages"]}
    end = report["application"]["end_ms"]
    found = []
    for place in zip(finding["stages"]["id"], finding["stages"]["attempt"]):
        stage = stages.get(place)
        if stage and (stage["submitted_ms"] or stage["first_task_ms"]):
            found.append((stage["submitted_ms"] or stage["first_task_ms"], stage["completed_ms"] or end))
    return found


def union_of(intervals: list[tuple[int, int]]) -> int:
    total, last = 0, 0
    for start, end in sorted(intervals):
        total += max(end - max(start, last), 0)
        last = max(last, end)
    return total


# Their fix shortens the driver's time as well: docs/severity.md#costs.
OF_THE_DRIVER = {"driver-bound", "slow-write", "slow-read", "small-output-files", "small-input-files", "repeated-scan"}
WITHDRAWN = ("is not set here", "is not in the recommended configuration", "serves another finding", "no time saving")


@pytest.mark.every_log
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_costs_and_values_hold_together(path: Path) -> None:
    """Costs are within stages and add up within the run; a setting has one value; nothing withdraws itself."""
    report = report_of(path)
    wall = report["accounting"]["wall"]["total_ms"]
    core = report["accounting"]["core"]["total_ms"]
    findings = report["findings"]
    assert sum(finding["costs"]["wall_ms"] or 0 for finding in findings) <= wall
    assert sum(finding["costs"]["core_ms"] or 0 for finding in findings) <= core
    values: dict[str, set[str]] = {}
    ended = [finding["id"] for finding in findings if finding["rule"] == "job-failed" and finding["severity"] == "critical"]
    cure = {id: action for action in reversed(report["actions"]) for id in action["cures"]}
    for finding in findings:
        cost, about = finding["costs"]["wall_ms"], intervals_of(report, finding)
        complete = finding["stages"]["count"] == len(finding["stages"]["id"])
        if cost and about and complete and finding["rule"] not in OF_THE_DRIVER:
            assert cost <= union_of(about), finding["id"]
        for advice in finding["advice"]:
            said = re.search(r"from about (\d+) threads", advice["text"])
            assert not said or f"ThreadPoolExecutor({said[1]})" in advice["code"]
            assert not any(words in advice["text"] for words in WITHDRAWN), advice["text"]
            for key, value in advice["config"].items():
                values.setdefault(key, set()).add(value)
        if finding["id"] in cure:
            assert finding["saves"]["wall_ms"] == cure[finding["id"]]["saves"]["wall_ms"], finding["id"]
    for key, value in report["config_changes"].items():
        assert values.get(key, {value}) == {value}, key
    if ended:
        assert findings[0]["id"] in ended or findings[0]["severity"] == "critical"


@pytest.mark.parametrize(
    "name, rule", [("oom_groups", "executor-oom"), ("result_limit", "large-result"), ("job_failed_udf", "task-failures")]
)
def test_the_root_of_a_failure_comes_first(name: str, rule: str) -> None:
    """Not the error that reports what came of it: lost shuffle files, an aborted job."""
    path = ROOT / "corpus" / "logs" / f"{name}.zst"
    report = report_of(path)
    first = report["findings"][0]
    assert first["rule"] == rule
    assert first["id"] in report["actions"][0]["cures"]
    failed = next(finding for finding in report["findings"] if finding["rule"] == "job-failed")
    text = run_command([str(binary_path()), "diagnose", "--width", "400", str(path)]).out.decode()
    (headline,) = [line for line in text.splitlines() if line.startswith("Failed: ")]
    if rule == "task-failures":  # the error itself says why
        assert report["failure"]["reason"] is None
        assert "could not convert string to float" in headline
        return
    assert failed["follows"] == report["failure"]["reason"] == first["id"]
    assert any({first["id"], failed["id"]} <= set(action["cures"]) for action in report["actions"])
    assert headline.startswith(f"Failed: {first['title']}")


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


def test_what_no_model_knows_is_said_with_what_its_findings_cost() -> None:
    path = ROOT / "corpus" / "logs" / "driver_collect.zst"
    run = run_command([str(binary_path()), "diagnose", "--width", "200", str(path)])
    action = next(action for action in report_of(path)["actions"] if not action["saves"]["basis"])
    assert action["config"] == {"spark.driver.memory": "768m"}
    assert re.search(r"Time saved: not known; what it cures costs \d", run.out.decode())


# Settings without a model whose default does away with what the finding measured: with them, and with the program's change
CAUSES = (
    ("settings/logs/shuffle-spill-numElementsForceSpillThreshold-50000-sort", 3066),
    ("settings/logs/sql-files-maxRecordsPerFile-500-write", 82514),
    ("logs/shuffle_write_slow", 15911),
    ("loop/logs/files_of_few_rows-before", 13439),
    ("loop/logs/files_packed_hard-before", 7659),
)


@pytest.mark.parametrize(("log", "saved"), CAUSES)
def test_a_setting_without_a_model_saves_what_its_finding_measured(log: str, saved: int) -> None:
    report = report_of(ROOT / "corpus" / f"{log}.zst")
    action = next(action for action in report["actions"] if action["config"])
    assert len(action["config"]) == 1
    assert action["saves"]["basis"] == "settings"
    assert action["saves"]["wall_ms"]["low"] <= saved <= action["saves"]["wall_ms"]["high"]
    (setting,) = action["config"].items()
    asked = run_command(
        [str(binary_path()), "whatif", str(ROOT / "corpus" / f"{log}.zst"), "--set", "=".join(setting), "-f", "json"]
    )
    assert asked.exit == 0, asked.err
