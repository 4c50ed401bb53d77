"""gate: every exit status, every limit, baselines, incomplete logs."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from cli_command import ROOT, Command, log, pyrometer  # noqa: F401 (fixtures)
from test_verbs import validate

LOGS = ROOT / "corpus" / "logs"
SKEWED, HEALTHY = LOGS / "data_skew.zst", LOGS / "healthy_sql.zst"


def gate(pyrometer: Command, *words: Any) -> tuple[int, dict[str, Any]]:
    """Exit status and document; its checks by name."""
    run = pyrometer("gate", *words, "--format", "json")
    assert run.returncode in (0, 1), run.stderr
    assert run.stderr == ""
    document = json.loads(run.stdout)
    validate(document, "gate")
    failed = [check for check in document["checks"] if not check["passed"]]
    assert document["failed"] == len(failed)
    assert document["passed"] == (not failed) == (run.returncode == 0)
    return run.returncode, {check["name"]: check for check in document["checks"]}


def budget(pyrometer: Command, text: str) -> Path:
    path = pyrometer.folder / "budget.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_severities(pyrometer: Command) -> None:
    for severity in ("critical", "severe", "moderate", "low"):
        status, checks = gate(pyrometer, "--fail-on", severity, SKEWED)
        assert status == 1
        assert checks[f"fail_on.{severity}"]["finding"]["rule"] == "data-skew"
    for severity in ("critical", "severe", "moderate"):
        assert gate(pyrometer, "--fail-on", severity, HEALTHY)[0] == 0


def test_a_budget_that_is_kept(pyrometer: Command) -> None:
    text = "wall: 1h\ncore_time: 1d\nspill: 1g\nfailures: 0\ngc_share: 50%\nfindings: {critical: 5}\n"
    status, checks = gate(pyrometer, "--budget", budget(pyrometer, text), SKEWED)
    assert status == 0
    assert list(checks) == ["complete", "wall", "core_time", "spill", "gc_share", "failures", "findings.critical"]


@pytest.mark.parametrize(
    ("limit", "log_name", "rule"),
    [
        ("wall: 10s", "data_skew", "data-skew"),
        ("core_time: 10s", "data_skew", "data-skew"),
        ("spill: 0", "disk_spill", "disk-spill"),
        ("memory_spill: 1m", "disk_spill", "disk-spill"),
        ("gc_share: 5%", "gc_pressure", "gc-pressure"),
        ("failures: 0", "task_failures", "task-failures"),
        ("failed_tasks: 1", "task_failures", "task-failures"),
        ("input: 1k", "small_input_files", "small-input-files"),
        ("shuffle: 1k", "data_skew", None),
        ("shuffle_read: 1k", "data_skew", None),
        ("shuffle_write: 1k", "data_skew", None),
    ],
)
def test_each_limit_is_named_with_its_finding(
    pyrometer: Command, limit: str, log_name: str, rule: str | None
) -> None:
    status, checks = gate(pyrometer, "--budget", budget(pyrometer, limit), LOGS / f"{log_name}.zst")
    name = limit.split(":")[0]
    assert status == 1
    assert not checks[name]["passed"]
    assert checks[name]["value"] > checks[name]["limit"]
    if rule:
        assert checks[name]["finding"]["rule"] == rule


def test_values_are_those_of_the_report(pyrometer: Command) -> None:
    report = json.loads(pyrometer("diagnose", SKEWED, "-f", "json").stdout)
    totals = report["totals"]
    text = "wall: 1\ncore_time: 1\ninput: 1\noutput: 1\nshuffle: 1\nshuffle_read: 1\nshuffle_write: 1\nfailed_jobs: 0\n"
    checks = gate(pyrometer, "--budget", budget(pyrometer, text + "failed_stages: 0\n"), SKEWED)[1]
    assert checks["wall"]["value"] == report["application"]["duration_ms"]
    assert checks["core_time"]["value"] == report["accounting"]["core"]["total_ms"]
    assert checks["input"]["value"] == totals["input_bytes"]
    assert checks["output"]["value"] == totals["output_bytes"]
    assert checks["shuffle_read"]["value"] == totals["shuffle_read_bytes"]
    assert checks["shuffle_write"]["value"] == totals["shuffle_write_bytes"]
    assert checks["shuffle"]["value"] == totals["shuffle_read_bytes"] + totals["shuffle_write_bytes"]
    assert checks["failed_jobs"]["value"] == checks["failed_stages"]["value"] == 0


def test_a_faster_run_may_shuffle_more(pyrometer: Command) -> None:
    """Time first: the repaired run takes 40 % less time, and its shuffle is a tenth larger."""
    before, after = LOGS / "data_skew.zst", LOGS / "data_skew_repaired.zst"
    status, checks = gate(pyrometer, "--baseline", before, after)
    shuffle = checks["baseline.shuffle"]
    assert status == 0 and shuffle["passed"] and shuffle["value"] > shuffle["limit"]
    assert "clearly faster" in shuffle["message"] and checks["baseline.wall"]["passed"]
    status, checks = gate(pyrometer, "--baseline", after, before)
    assert status == 1 and not checks["baseline.wall"]["passed"]
    assert not any("clearly faster" in check["message"] for check in checks.values())
    status, checks = gate(pyrometer, "--baseline", before, after, "--tolerance", "60%")
    assert status == 0 and "clearly faster" not in checks["baseline.shuffle"]["message"], "not faster than that"


def test_tolerances(pyrometer: Command) -> None:
    wall = json.loads(pyrometer("diagnose", SKEWED, "-f", "json").stdout)["application"]["duration_ms"]
    limit = int(wall / 1.04)
    assert gate(pyrometer, "--budget", budget(pyrometer, f"wall: {limit}"), SKEWED)[0] == 1
    assert gate(pyrometer, "--budget", budget(pyrometer, f"tolerance: 5%\nwall: {limit}"), SKEWED)[0] == 0
    own = f"tolerance: 5%\nwall: {{limit: {limit}, tolerance: 1%}}"
    assert gate(pyrometer, "--budget", budget(pyrometer, own), SKEWED)[0] == 1


def test_the_budgets_of_the_pages(pyrometer: Command) -> None:
    for page, limits in (("cli/gate.md", 14 + 2), ("ci.md", 4)):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        block = re.search(r"(?:^    .*\n)*^    tolerance:.*\n(?:^    .*\n)+", text, re.M)
        assert block
        checks = gate(pyrometer, "--budget", budget(pyrometer, textwrap.dedent(block.group())), HEALTHY)[1]
        assert len(checks) == 1 + limits


def test_a_budget_in_json(pyrometer: Command) -> None:
    text = json.dumps({"wall": {"limit": "10s", "tolerance": 0.1}, "findings": {"severe": 0}}, indent=1)
    status, checks = gate(pyrometer, "--budget", budget(pyrometer, text), SKEWED)
    assert status == 1
    assert checks["wall"]["limit"] == pytest.approx(11000)
    assert not checks["findings.severe"]["passed"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cost: 10\n", "prices"),
        ("wal: 10s\n", "line 1: there is no limit 'wal'"),
        ("wall: soon\n", "'soon' is not a duration"),
        ("spill: -1\n", "is not a size"),
        ("failures: 1.5\n", "is not a number"),
        ("gc_share: lots\n", "is not a share"),
        ("findings: 3\n", "severities"),
        ("findings: {awful: 3}\n", "is not a severity"),
        ("wall: {limits: 3}\n", "neither limit nor tolerance"),
        ("wall: {tolerance: 3%}\n", "'limit' is missing"),
        ("tolerance: 3%\n", "limits nothing"),
        ("- wall\n", "is not a map of limits"),
        ("", "limits nothing"),
    ],
)
def test_a_wrong_budget_is_2(pyrometer: Command, text: str, said: str) -> None:
    run = pyrometer("gate", "--budget", budget(pyrometer, text), HEALTHY)
    assert (run.returncode, run.stdout) == (2, "")
    assert len(run.stderr.splitlines()) == 1
    assert said in run.stderr


@pytest.mark.parametrize("text", ["wall: [\n", "a: &x 1\nb: *x\n", "wall: 1\nwall: 2\n", "\x00\x01\x02"])
def test_an_unreadable_budget_is_3(pyrometer: Command, text: str) -> None:
    run = pyrometer("gate", "--budget", budget(pyrometer, text), HEALTHY)
    assert (run.returncode, run.stdout) == (3, "")
    assert len(run.stderr.splitlines()) == 1
    assert "budget.yaml" in run.stderr


def test_a_baseline(pyrometer: Command) -> None:
    base, slots = LOGS / "pair_base.zst", LOGS / "pair_slots.zst"
    status, checks = gate(pyrometer, "--baseline", base, slots)
    assert status == 1
    assert [name for name, check in checks.items() if not check["passed"]] == ["baseline.wall"]
    assert "the number of slots" in checks["baseline.wall"]["message"]
    assert gate(pyrometer, "--baseline", base, "--tolerance", "150%", slots)[0] == 0
    assert gate(pyrometer, "--baseline", slots, base)[1]["baseline.wall"]["passed"]
    assert gate(pyrometer, "--baseline", base, "--tolerance", "0", base)[0] == 0


def test_a_baseline_of_another_application(pyrometer: Command) -> None:
    status, checks = gate(pyrometer, "--baseline", LOGS / "healthy_rdd.zst", SKEWED)
    assert status == 1
    assert not checks["baseline.alike"]["passed"]
    assert not checks["baseline.findings"]["passed"]
    assert checks["baseline.findings"]["finding"]["rule"] == "data-skew"


def test_incomplete_logs_do_not_pass(pyrometer: Command, log: Path) -> None:
    data = log.read_bytes()
    (pyrometer.folder / "cut").write_bytes(data[: len(data) // 2])
    lines = data.splitlines(keepends=True)
    (pyrometer.folder / "unfinished").write_bytes(b"".join(lines[: len(lines) // 2]))
    for name in ("cut", "unfinished"):
        status, checks = gate(pyrometer, "--fail-on", "critical", name)
        assert status == 1
        assert [key for key, check in checks.items() if not check["passed"]] == ["complete"]
        assert "incomplete" in checks["complete"]["message"]
        assert gate(pyrometer, "--fail-on", "critical", "--allow-incomplete", name)[0] == 0
        assert not gate(pyrometer, "--baseline", name, log)[1]["baseline.complete"]["passed"]


def test_suppressed_findings_do_not_fail(pyrometer: Command) -> None:
    assert gate(pyrometer, "--fail-on", "moderate", "--suppress", "data-skew", SKEWED)[0] == 0


def test_all_at_once_and_as_text(pyrometer: Command) -> None:
    path = budget(pyrometer, "wall: 10s\n")
    words = ("--fail-on", "severe", "--budget", path, "--baseline", HEALTHY, SKEWED)
    status, checks = gate(pyrometer, *words)
    assert status == 1
    assert {"complete", "fail_on.severe", "wall", "baseline.wall"} <= set(checks)
    run = pyrometer("gate", *words)
    assert (run.returncode, run.stderr) == (1, "")
    assert "FAIL  wall: 60.6 s wall time; the limit is 10.0 s" in run.stdout
    assert max(len(line) for line in run.stdout.splitlines()) <= 80


def test_the_output_is_kept_when_the_gate_fails(pyrometer: Command) -> None:
    run = pyrometer("gate", "--fail-on", "severe", "-o", "gate.json", "-f", "json", SKEWED)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", "")
    assert not json.loads((pyrometer.folder / "gate.json").read_text())["passed"]
    run = pyrometer("gate", "--fail-on", "severe", "-o", "nowhere/gate.json", SKEWED)
    assert run.returncode == 4


def test_wrong_usage_is_2(pyrometer: Command) -> None:
    for words in (
        [HEALTHY],
        ["--fail-on", "severe"],
        ["--fail-on", "awful", HEALTHY],
        ["--fail-on", "severe", LOGS],
        ["--baseline", HEALTHY, "--tolerance", "some", HEALTHY],
        ["--baseline", HEALTHY, "--tolerance", "-1%", HEALTHY],
        ["--baseline", "-", "-"],
        ["--fail-on", "severe", "--format", "csv", HEALTHY],
    ):
        run = pyrometer("gate", *words)
        assert (run.returncode, run.stdout) == (2, ""), words
        assert run.stderr


def test_unreadable_is_3(pyrometer: Command) -> None:
    (pyrometer.folder / "noise").write_bytes(b"no log at all\n")
    for words in (
        ["--fail-on", "severe", "missing"],
        ["--fail-on", "severe", "noise"],
        ["--budget", "missing.yaml", HEALTHY],
        ["--baseline", "missing", HEALTHY],
        ["--baseline", "noise", HEALTHY],
    ):
        run = pyrometer("gate", *words)
        assert (run.returncode, run.stdout) == (3, ""), words
        assert len(run.stderr.splitlines()) == 1
