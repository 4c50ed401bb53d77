"""What a report says first: why the application failed, what it cost, and the few lines of --brief."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT

from cli_command import Command, pyrometer  # noqa: F401 (fixtures)

LOGS = ROOT / "corpus" / "logs"
MOST_LINES = 25
SOME = ("data_skew", "too_many_partitions", "aqe_off", "task_failures", "config_risk", "healthy_etl", "job_failed_udf")


def report_of(pyrometer: Command, path: Path, *options: object) -> dict:  # noqa: F811
    return json.loads(pyrometer("diagnose", "-f", "json", *options, path).stdout)


@pytest.mark.parametrize("name", SOME)
def test_brief_is_a_screenful(pyrometer: Command, name: str) -> None:  # noqa: F811
    path = LOGS / f"{name}.zst"
    report = report_of(pyrometer, path)
    run = pyrometer("diagnose", "--brief", path)
    lines = run.stdout.splitlines()
    assert run.returncode == 0
    assert len(lines) <= MOST_LINES
    for key, value in report["config_changes"].items():
        assert f"{key}={value}" in lines
    loud = [one for one in report["findings"] if one["severity"] != "low"]
    numbered = [line for line in lines if line[:1].isdigit() and ". " in line[:4]]
    todo = numbered[: len(report["actions"])]
    for action, line in zip(report["actions"], todo):
        assert line.split(". ", 1)[1][:20] == action["title"][:20]
    shown = numbered[len(todo) :]
    assert len(shown) == len(loud)
    for finding in loud:
        assert any(finding["title"] in line and finding["severity"] in line for line in shown)
    assert "Recommendation" not in run.stdout


def test_narrow_brief_counts_what_has_no_room(pyrometer: Command) -> None:  # noqa: F811
    for name in SOME:
        text = pyrometer("diagnose", "--brief", "--width", "40", LOGS / f"{name}.zst").stdout
        assert len(text.splitlines()) <= MOST_LINES


def test_head_has_the_cost_of_chosen_nodes(pyrometer: Command) -> None:  # noqa: F811
    path = LOGS / "data_skew.zst"
    nodes = ("--instance", "r5.2xlarge", "--region", "us-east-1")
    report = report_of(pyrometer, path, *nodes)
    total = report["cost"]["money"]["total"]
    assert report["cost"]["money"]["known"] and total > 0
    text = pyrometer("diagnose", *nodes, path).stdout
    assert "    Cost: $" in text.splitlines()[2]
    assert "COST OPTIMIZATION\nCurrent: 1 x r5.2xlarge = $" in text
    assert "Cost: $" in pyrometer("diagnose", "-f", "markdown", *nodes, path).stdout
    assert "Cost:" not in pyrometer("diagnose", path).stdout
    cost = json.loads(pyrometer("cost", "-f", "json", *nodes, path).stdout)
    assert cost["applications"][0]["cost"]["money"]["total"] == pytest.approx(total)


def test_why_it_failed_comes_first(pyrometer: Command) -> None:  # noqa: F811
    path = LOGS / "job_failed_udf.zst"
    report = report_of(pyrometer, path)
    failure = report["failure"]
    assert failure["exception"] == "ValueError"
    assert failure["message"] == "could not convert string to float: 'on'"
    assert failure["frame"] == "job_failed_udf.py:11, in price_of"
    (finding,) = [one for one in report["findings"] if one["rule"] == "job-failed"]
    assert failure["finding"] == finding["id"]
    assert failure["stage"] == finding["where"]["stage"]
    assert failure["failed_tasks"] == 4
    said = "Failed: ValueError: could not convert string to float: 'on', at job_failed_udf.py:11, in price_of (job 4,"
    text = pyrometer("diagnose", "--width", "200", path).stdout
    assert said in text
    assert text.index(said) < text.index("findings:")
    assert said in pyrometer("diagnose", "--brief", "--width", "200", path).stdout
    assert "Failed: ValueError" in pyrometer("diagnose", "-f", "markdown", path).stdout
    assert report_of(pyrometer, LOGS / "data_skew.zst")["failure"] is None
