"""SARIF and JUnit against their public schemas, and the snippets of docs/ci.md against those of GitHub and GitLab."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from conftest import ROOT, corpus_logs, run_command, run_on_log
from schemas import junit_validator, sarif_validator

LOGS = ROOT / "corpus" / "logs"

def check_sarif(text: bytes) -> Any:
    validator, reason = sarif_validator()
    if validator is None:
        pytest.skip(reason)
    document = json.loads(text)
    validator.validate(document)
    for run in document["runs"]:
        ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        for result in run["results"]:
            assert ids[result["ruleIndex"]] == result["ruleId"]
            for location in result["locations"]:
                uri = location["physicalLocation"]["artifactLocation"]["uri"]
                assert re.fullmatch(r"[A-Za-z0-9\-._~/:%]+", uri)
                assert urlsplit(uri).scheme in ("", "file")
    return document


def check_junit(text: bytes) -> Any:
    etree = pytest.importorskip("lxml.etree")
    validator, reason = junit_validator()
    if validator is None:
        pytest.skip(reason)
    tree = etree.fromstring(text)
    validator.assertValid(tree)
    for suite in tree.iter("testsuite"):
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        assert int(suite.get("failures")) == sum(case.find("failure") is not None for case in cases)
        assert int(suite.get("skipped")) == sum(case.find("skipped") is not None for case in cases)
        assert int(suite.get("errors")) == sum(case.find("error") is not None for case in cases)
    return tree


def run(binary: str, *words: Any) -> bytes:
    done = run_command([binary, *map(str, words)])
    assert done.exit in (0, 1), done.explain()
    return done.out


def of_log(log: Path, form: str) -> bytes:
    done = run_on_log(log, form=form)
    assert done.exit == 0, done.explain()
    return done.out


@pytest.mark.parametrize("path", corpus_logs())
def test_sarif_of_every_log_of_the_corpus(path: Path) -> None:
    document = check_sarif(of_log(path, "sarif"))
    report = json.loads(of_log(path, "json"))
    (only,) = document["runs"]
    found = [result["partialFingerprints"]["findingId/v1"] for result in only["results"]]
    assert only["properties"]["outcome"] == report["application"]["outcome"]
    assert found == [finding["id"] for finding in report["findings"]]
    for result, finding in zip(only["results"], report["findings"]):
        level = {"critical": "error", "severe": "error", "moderate": "warning", "low": "note"}
        assert result["level"] == level[finding["severity"]]
        assert result["properties"]["saves"]["wall_ms"] == finding["saves"]["wall_ms"]


def test_sarif_points_at_the_source(binary: str) -> None:
    document = check_sarif(run(binary, "diagnose", LOGS / "skew_rdd.zst", "-f", "sarif"))
    (result,) = [r for r in document["runs"][0]["results"] if r["ruleId"] == "data-skew"]
    physical = result["locations"][0]["physicalLocation"]
    assert unquote(urlsplit(physical["artifactLocation"]["uri"]).path).endswith("/skew_rdd.py")
    assert physical["artifactLocation"]["uri"].startswith("file:///")
    assert physical["region"]["startLine"] == 31


def test_suppressed_findings_are_results_with_a_suppression(binary: str) -> None:
    words = ["diagnose", LOGS / "skew_rdd.zst", "--suppress", "data-skew", "-f", "sarif"]
    results = check_sarif(run(binary, *words))["runs"][0]["results"]
    (suppressed,) = [result for result in results if result["suppressions"]]
    assert suppressed["ruleId"] == "data-skew"
    assert suppressed["suppressions"][0]["kind"] == "external"


def test_several_logs_are_several_runs_and_suites(binary: str, tmp_path: Path) -> None:
    logs = [LOGS / "data_skew.zst", LOGS / "healthy_sql.zst", tmp_path / 'missing "<&> log']
    document = check_sarif(run(binary, "diagnose", *logs, "-f", "sarif"))
    assert [r["invocations"][0]["executionSuccessful"] for r in document["runs"]] == [True, True, False]
    tree = check_junit(run(binary, "diagnose", *logs, "-f", "junit"))
    assert len(tree.findall("testsuite")) == 3
    assert tree.find("testsuite[@name='unreadable']/testcase/error") is not None
    alone = check_sarif(run(binary, "diagnose", logs[0], logs[1], "-f", "sarif"))
    assert len(alone["runs"]) == 2


@pytest.mark.parametrize("path", corpus_logs())
def test_junit_of_every_log_of_the_corpus(path: Path) -> None:
    tree = check_junit(of_log(path, "junit"))
    report = json.loads(of_log(path, "json"))
    failed = {case.get("name") for case in tree.iter("testcase") if case.find("failure") is not None}
    assert failed == {finding["id"] for finding in report["findings"] if finding["severity"] != "low"}
    (outcome,) = [row.get("value") for row in tree.iter("property") if row.get("name") == "outcome"]
    assert outcome == report["application"]["outcome"]
    actions = [row.get("value") for row in tree.iter("property") if row.get("name") == "action"]
    assert len(actions) == len(report["actions"])
    for value, action in zip(actions, report["actions"]):
        assert value.startswith(action["title"] + ". ")
        assert all(f"{key}={setting}" in value for key, setting in action["config"].items())


@pytest.mark.parametrize("path", corpus_logs())
def test_csv_of_every_log_of_the_corpus(path: Path) -> None:
    table = list(csv.DictReader(io.StringIO(of_log(path, "csv").decode())))
    report = json.loads(of_log(path, "json"))
    assert [row["id"] for row in table] == [finding["id"] for finding in report["findings"]]
    assert {row["outcome"] for row in table} <= {report["application"]["outcome"]}
    for row in table:
        cures = [str(place + 1) for place, action in enumerate(report["actions"]) if row["id"] in action["cures"]]
        assert row["action"] == (cures[0] if cures else "")


def test_gates(binary: str, tmp_path: Path) -> None:
    budget = tmp_path / "budget.yaml"
    budget.write_text("wall: 10s\nspill: 1t\n", encoding="utf-8")
    words = ["gate", "--budget", budget, "--fail-on", "severe", LOGS / "skew_rdd.zst"]
    (only,) = check_sarif(run(binary, *words, "-f", "sarif"))["runs"]
    assert [result["ruleId"] for result in only["results"]] == ["fail_on.severe", "wall"]
    assert "skew_rdd.py" in json.dumps(only["results"][1]["locations"])
    tree = check_junit(run(binary, *words, "-f", "junit"))
    failed = [case.get("name") for case in tree.iter("testcase") if case.find("failure") is not None]
    assert failed == ["fail_on.severe", "wall"]
    assert len(list(tree.iter("testcase"))) == 4
    passed = check_sarif(run(binary, "gate", "--fail-on", "severe", LOGS / "healthy_sql.zst", "-f", "sarif"))
    assert passed["runs"][0]["results"] == []


def test_hostile_names(binary: str, small_log: Path, tmp_path: Path) -> None:
    name = 'a"<b>&\\u0007\\ud800\\u202e]]>\\uffff'
    lines = small_log.read_text(encoding="utf-8")
    changed = re.sub(r'"App Name":"[^"]*"', lambda _: '"App Name":"' + name.replace('"', '\\"', 1) + '"', lines, count=1)
    assert changed != lines
    path = tmp_path / "odd 'name' é"
    path.write_text(changed, encoding="utf-8")
    check_sarif(run(binary, "diagnose", path, "-f", "sarif"))
    check_junit(run(binary, "diagnose", path, "-f", "junit"))
    check_sarif(run(binary, "gate", "--fail-on", "low", path, "-f", "sarif"))
    check_junit(run(binary, "gate", "--fail-on", "low", path, "-f", "junit"))


@pytest.mark.parametrize(
    ("schema", "heading", "name"),
    [
        ("vendor.github-workflows", "## GitHub Actions", "workflow.yml"),
        ("vendor.gitlab-ci", "## GitLab", ".gitlab-ci.yml"),
    ],
)
def test_snippets_are_valid(tmp_path: Path, schema: str, heading: str, name: str) -> None:
    pytest.importorskip("check_jsonschema")
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8").split(heading)[1]
    snippet = re.search(r"```yaml\n(.*?)```", text, re.S)
    assert snippet
    (tmp_path / name).write_text(snippet.group(1), encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_snippets_name_options_that_exist(binary: str) -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    for verb in ("gate", "compare", "diagnose"):
        known = run(binary, verb, "--help").decode()
        lines = [line for line in text.splitlines() if f"pyrometer {verb}" in line]
        used = [option for line in lines for option in re.findall(r"--[\w-]+", line)]
        assert lines
        for option in used:
            assert option in known, f"{verb} has no {option}"
