"""--config and --suppress of diagnose, and the thresholds that rules shows."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from conftest import binary_path, corpus_logs, run_command, run_on_log

from cli_command import ROOT, Command, compressed_log, pyrometer  # noqa: F401 (fixtures)
from test_verbs import validate


def report(pyrometer: Command, log: Path, *words: object) -> dict[str, Any]:
    """The JSON report of a log; it must keep to its schema."""
    run = pyrometer("diagnose", log, "-f", "json", *words)
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    validate(document, "report")
    return document


def ids(document: dict[str, Any]) -> list[str]:
    return [finding["id"] for finding in document["findings"]]


def test_the_log_has_a_finding_to_work_with(pyrometer: Command, compressed_log: Path) -> None:
    document = report(pyrometer, compressed_log)
    assert "data-skew" in [finding["rule"] for finding in document["findings"]]
    assert document["suppressed"] == document["thresholds"] == []


def test_a_threshold_silences_and_says_so(pyrometer: Command, compressed_log: Path) -> None:
    (pyrometer.folder / "c.yaml").write_text("rules: {data-skew: {ratio_min: 1000, saving_ms_min: 1 s}}\n")
    document = report(pyrometer, compressed_log, "--config", "c.yaml")
    assert document["rules"]["data-skew"] == "quiet"
    # One second is the default: only what differs is shown.
    assert document["thresholds"] == [
        {"rule": "data-skew", "name": "ratio_min", "value": 1000, "default": 2, "unit": "ratio"}
    ]
    text = pyrometer("diagnose", compressed_log, "--config", "c.yaml").stdout
    assert "1 threshold changed (data-skew.ratio_min=1000)." in text


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        ("spill_bytes_min: 64m", "bytes", 64 * 1024**2),
        ("spill_bytes_min: '1.5 GiB'", "bytes", 1.5 * 1024**3),
        ("spill_bytes_min: 12", "bytes", 12),
        ("spill_share_min: 20%", "share", 0.2),
        ("spill_share_min: 0.25", "share", 0.25),
        ("spill_share_min: 0", "share", 0),
        ("skew_ratio_min: 7.5", "ratio", 7.5),
    ],
)
def test_units(pyrometer: Command, compressed_log: Path, value: str, unit: str, expected: float) -> None:
    (pyrometer.folder / "c.yaml").write_text(f"rules:\n  disk-spill:\n    {value}\n")
    (row,) = report(pyrometer, compressed_log, "--config", "c.yaml")["thresholds"]
    assert (row["unit"], row["value"]) == (unit, pytest.approx(expected))


def test_durations_have_units(pyrometer: Command, compressed_log: Path) -> None:
    for value, expected in (("250", 250), ("2s", 2000), ("1.5 min", 90000), ("1h", 3600000), ("7 ms", 7)):
        (pyrometer.folder / "c.yaml").write_text(f"rules: {{data-skew: {{saving_ms_min: {value}}}}}\n")
        (row,) = report(pyrometer, compressed_log, "--config", "c.yaml")["thresholds"]
        assert row["value"] == expected


def test_suppressed_findings_are_kept_with_their_reason(pyrometer: Command, compressed_log: Path) -> None:
    before = report(pyrometer, compressed_log)
    found = next(finding for finding in before["findings"] if finding["rule"] == "data-skew")
    after = report(pyrometer, compressed_log, "--suppress", "data-skew")
    assert ids(after) == [id for id in ids(before) if not id.startswith("data-skew")]
    assert after["suppressed"] == [
        {"id": found["id"], "rule": "data-skew", "severity": found["severity"], "reason": "--suppress data-skew"}
    ]
    assert after["rules"]["data-skew"] == "finding"
    for advice in found["advice"]:
        assert not set(advice["config"]) & set(after["config_changes"])
    text = pyrometer("diagnose", compressed_log, "--suppress", found["id"]).stdout
    assert "1 finding suppressed (data-skew)." in text
    markdown = pyrometer("diagnose", compressed_log, "--suppress", "data-*", "-f", "markdown").stdout
    assert "1 finding suppressed" in markdown


def test_several_suppressions(pyrometer: Command, compressed_log: Path) -> None:
    before = report(pyrometer, compressed_log)
    words = [word for id in ids(before) for word in ("--suppress", id)]
    after = report(pyrometer, compressed_log, *words)
    assert after["findings"] == []
    assert [row["id"] for row in after["suppressed"]] == ids(before)
    assert after["config_changes"] == {}


def test_suppressions_of_a_file(pyrometer: Command, compressed_log: Path) -> None:
    (pyrometer.folder / "c.yaml").write_text(
        "suppress:\n  - straggler\n  - {id: 'data-skew:*', reason: known since May}\n  - id: idle-executors\n"
    )
    document = report(pyrometer, compressed_log, "--config", "c.yaml")
    (row,) = [row for row in document["suppressed"] if row["rule"] == "data-skew"]
    assert row["reason"] == "known since May"


def test_the_usual_places(pyrometer: Command, compressed_log: Path) -> None:
    home = pyrometer.folder / "home"
    (home / ".config" / "pyrometer").mkdir(parents=True)
    (home / ".config" / "pyrometer" / "config.yaml").write_text(
        "rules: {data-skew: {ratio_min: 5, plain_ratio_min: 6}}\nsuppress: [straggler]\n"
    )
    pyrometer.environment["HOME"] = str(home)

    def values(*words: object) -> dict[str, float]:
        return {row["name"]: row["value"] for row in report(pyrometer, compressed_log, *words)["thresholds"]}

    assert values() == {"ratio_min": 5, "plain_ratio_min": 6}
    (pyrometer.folder / ".pyrometer.yaml").write_text("rules: {data-skew: {ratio_min: 7}}\n")
    assert values() == {"ratio_min": 7, "plain_ratio_min": 6}
    (pyrometer.folder / "own.yaml").write_text("rules: {data-skew: {tasks_min: 8}}\n")
    assert values("--config", "own.yaml") == {"tasks_min": 8}
    assert values("--config", "none") == {}
    pyrometer.environment["XDG_CONFIG_HOME"] = str(home / "nothing")
    assert values() == {"ratio_min": 7}


@pytest.mark.parametrize(
    ("text", "line", "meant"),
    [
        ("rules:\n  data-skw:\n    ratio_min: 4\n", 2, "did you mean 'data-skew'"),
        ("rules:\n  data-skew:\n    ratio_mn: 4\n", 3, "did you mean 'ratio_min'"),
        ("rules:\n  data-skew:\n\n    ratio_min: many\n", 4, "'many'"),
        ("rules: {data-skew: {ratio_min: -1}}\n", 1, "'-1'"),
        ("rules: {data-skew: {ratio_min: nan}}\n", 1, "0 or more"),
        ("rules: {data-skew: {ratio_min: inf}}\n", 1, "0 or more"),
        ("rules: {data-skew: {ratio_min: 0x10}}\n", 1, "0 or more"),
        ("rules: {data-skew: {ratio_min: 1e30}}\n", 1, "0 or more"),
        ("rules: {data-skew: {ratio_min: " + "9" * 400 + "}}\n", 1, "0 or more"),
        ("rules: {data-skew: {heavy_share_max: 1.5}}\n", 1, "0 to 1"),
        ("rules: {data-skew: {heavy_share_max: 120%}}\n", 1, "0 to 1"),
        ("rules: {data-skew: {heavy_share_max: 1m}}\n", 1, "0 to 1"),
        ("rules: {too-few-partitions: {target_bytes: 0}}\n", 1, "greater than 0"),
        ("rules: {data-skew: [1]}\n", 1, "a map of thresholds"),
        ("rules: {data-skew: {ratio_min: [1]}}\n", 1, "a number"),
        ("rules: [data-skew]\n", 1, "a map of rules"),
        ("rule: {}\n", 1, "did you mean 'rules'"),
        ("suppress: data-skew\n", 1, "a list"),
        ("suppress:\n- data-skew\n- data-skw:at x\n", 3, "did you mean 'data-skew'"),
        ("suppress:\n- {id: data-skew, why: x}\n", 2, "'id' and 'reason'"),
        ("suppress:\n- {reason: x}\n", 2, "a rule"),
        ("suppress: [[x]]\n", 1, "a rule"),
        ("suppress: ['']\n", 1, "a rule"),
        ("just text\n", 1, "a map"),
    ],
)
def test_mistakes_are_2_with_their_line(pyrometer: Command, compressed_log: Path, text: str, line: int, meant: str) -> None:
    (pyrometer.folder / "c.yaml").write_text(text)
    run = pyrometer("diagnose", compressed_log, "--config", "c.yaml")
    assert (run.returncode, run.stdout) == (2, "")
    assert f"c.yaml, line {line}: " in run.stderr
    assert meant in run.stderr


def test_what_cannot_be_read_is_3_with_one_line(pyrometer: Command, compressed_log: Path) -> None:
    hostile = {
        "bomb": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        "deep": "[" * 100000,
        "huge": "# " + "x" * (2 << 20),
        "twice": "rules: {}\nrules: {}\n",
        "documents": "rules: {}\n---\nrules: {}\n",
        "broken": "rules: {\n",
        "nul": "rules: {data-skew: {ratio_min: \"4\\0\"}}\n",
    }
    for name, text in hostile.items():
        (pyrometer.folder / name).write_text(text)
    (pyrometer.folder / "binary").write_bytes(bytes(range(256)))
    for name in [*hostile, "binary", "missing", "."]:
        run = pyrometer("diagnose", compressed_log, "--config", name)
        assert (run.returncode, run.stdout) == (3, ""), name
        assert len(run.stderr.splitlines()) == 1, run.stderr
        assert run.stderr.startswith(f"pyrometer: cannot read {name}: ")


def test_empty_files_change_nothing(pyrometer: Command, compressed_log: Path) -> None:
    plain = report(pyrometer, compressed_log)
    for text in ("", "# nothing\n", "---\n", "{}\n", "rules:\nsuppress:\n", "~\n"):
        (pyrometer.folder / "c.yaml").write_text(text)
        assert report(pyrometer, compressed_log, "--config", "c.yaml") == plain


def test_unknown_suppressions_are_2(pyrometer: Command, compressed_log: Path) -> None:
    run = pyrometer("diagnose", compressed_log, "--suppress", "data-skw")
    assert (run.returncode, run.stdout) == (2, "")
    assert "did you mean 'data-skew'" in run.stderr
    assert pyrometer("diagnose", compressed_log, *["--suppress", "data-skew"] * 300).returncode == 2


def rules(pyrometer: Command) -> list[dict[str, Any]]:
    document = json.loads(pyrometer("rules", "-f", "json").stdout)
    validate(document, "rules")
    return document["rules"]


def test_every_threshold_is_explained(pyrometer: Command) -> None:
    for rule in rules(pyrometer):
        names = [threshold["name"] for threshold in rule["thresholds"]]
        assert len(set(names)) == len(names), rule["id"]
        for threshold in rule["thresholds"]:
            assert len(threshold["meaning"]) > 4, (rule["id"], threshold)
            assert threshold["value"] >= 0
            assert threshold["unit"] != "share" or threshold["value"] <= 1, (rule["id"], threshold)
            assert not threshold["name"].startswith("target_") or threshold["value"] > 0


def test_a_rule_shows_its_thresholds(pyrometer: Command) -> None:
    text = pyrometer("rules", "too-few-partitions").stdout
    assert re.search(r"^- `target_bytes`: 128 MiB$", text, re.M)
    document = json.loads(pyrometer("rules", "too-few-partitions", "-f", "json").stdout)
    validate(document, "rule")
    assert {row["name"]: row["value"] for row in document["thresholds"]}["target_bytes"] == 128 * 1024**2


def test_the_list_has_each_category_once(pyrometer: Command) -> None:
    headings = re.findall(r"^(\w+):$", pyrometer("rules").stdout, re.M)
    assert len(set(headings)) == len(headings)
    assert set(headings) == {rule["category"] for rule in rules(pyrometer)}


@pytest.mark.parametrize("which", ["least", "most"])
@pytest.mark.parametrize("path", corpus_logs())
def test_any_values_in_their_range_give_a_valid_report(pyrometer: Command, path: Path, which: str) -> None:
    """Every threshold at its bounds, over logs with faults: no number in a report may be infinite or missing."""
    (pyrometer.folder / "c.yaml").write_text(bounds(which))
    document = report(pyrometer, path, "--config", "c.yaml")
    text = json.dumps([document["findings"], document["config_changes"]])
    assert not re.search(r"(?<![\w.])-?(inf|nan)\b", text, re.I), re.findall(r".{60}\b(?:inf|nan)\b.{20}", text)


@lru_cache(maxsize=None)
def bounds(which: str) -> str:
    """A configuration with every threshold at its least or at its most."""
    lines = ["rules:"]
    for rule in run_command([str(binary_path()), "rules", "-f", "json"]).json["rules"]:
        lines.append(f"  {rule['id']}:" if rule["thresholds"] else f"  {rule['id']}: {{}}")
        for row in rule["thresholds"]:
            least = 1e-3 if row["name"].startswith("target_") else 0
            most = 1 if row["unit"] == "share" else 10**15
            lines.append(f"    {row['name']}: {least if which == 'least' else most}")
    return "\n".join(lines) + "\n"


def test_the_page_names_rules_and_thresholds_that_exist(pyrometer: Command, compressed_log: Path) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    example = re.search(r"\n((?:    .*\n|\n)+)\n## Locations", page)
    assert example
    (pyrometer.folder / "c.yaml").write_text(re.sub(r"^    ", "", example.group(1), flags=re.M))
    assert len(report(pyrometer, compressed_log, "--config", "c.yaml")["thresholds"]) == 4
    for unit in {row["unit"] for rule in rules(pyrometer) for row in rule["thresholds"]}:
        assert f"`{unit}`" in page


@pytest.mark.parametrize("path", corpus_logs())
def test_the_configuration_holds_together(path: Path) -> None:
    document = run_on_log(path).json
    rows = {row["key"]: row for row in document["configuration"]}
    assert len(rows) == len(document["configuration"])
    changing = {key for key, row in rows.items() if row["finding"] is not None}
    assert {key for key in changing if rows[key]["applies"] != "elsewhere"} == set(document["config_changes"])
    findings = {finding["id"]: finding for finding in document["findings"]}
    for key, row in rows.items():
        assert row["reason"]
        if key in changing:
            assert row["recommended"] != row["current"]
            assert row["verify"]
            advised = [advice["config"].get(key) for advice in findings[row["finding"]]["advice"]]
            assert row["recommended"] in advised or row["applies"] == "elsewhere"
        else:
            assert row["recommended"] == row["current"]
    # No finding advises another value than the one that is taken.
    for finding in findings.values():
        for advice in finding["advice"]:
            for key, value in advice["config"].items():
                assert document["config_changes"].get(key, value) == value
