"""pyrometer evaluate: labels against findings, counted again in Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from schemas import check

from cli_command import ROOT, Command, pyrometer  # noqa: F401  (fixture)

CORPUS = ROOT / "corpus"


def small_corpus(folder: Path, entries: list[dict[str, object]]) -> Path:
    """A corpus of three logs under labels of the test's own."""
    (folder / "logs").mkdir(parents=True)
    for name in ("straggler", "data_skew", "healthy_sql"):
        shutil.copy(CORPUS / "logs" / f"{name}.zst", folder / "logs")
    (folder / "manifest.json").write_text(json.dumps({"logs": entries}), encoding="utf-8")
    return folder


def evaluate(pyrometer: Command, *arguments: object) -> dict:  # noqa: F811
    run = pyrometer("evaluate", *arguments, "-f", "json")
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    return check(document, "pyrometer.evaluation-1.json")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    def entry(name: str, expected: list[str], allowed: list[str], split: str, **more: object) -> dict[str, object]:
        return {"file": f"logs/{name}.zst", "expected": expected, "allowed": allowed, "split": split, **more}

    return small_corpus(
        tmp_path / "corpus",
        [
            entry("straggler", ["straggler", "disk-spill"], ["*"], "a", repaired="logs/healthy_sql.zst"),
            entry("data_skew", [], ["straggler"], "b", healthy=True),
            entry("healthy_sql", [], [], "b", healthy=True),
            entry("gone", ["data-skew"], [], "b"),
        ],
    )


def test_counts(pyrometer: Command, corpus: Path) -> None:  # noqa: F811
    done = evaluate(pyrometer, corpus)
    rules = done["rules"]
    assert (rules["straggler"]["tp"], rules["straggler"]["fn"]) == (1, 0)
    assert (rules["disk-spill"]["tp"], rules["disk-spill"]["fn"]) == (0, 1)
    assert rules["disk-spill"]["recall"] == 0 and rules["disk-spill"]["precision"] is None
    assert rules["data-skew"]["fp"] == 1 and rules["data-skew"]["precision"] == 0
    assert done["healthy"] == {"runs": 2, "silent": 1}
    straggler, _, healthy, gone = done["runs"]
    assert healthy["wrong"] == healthy["right"] == []
    assert gone["unreadable"] and gone["missed"] == []
    assert straggler["saves"]["low_ms"] <= straggler["saves"]["expected_ms"] <= straggler["saves"]["high_ms"]
    assert done["total"]["tp"] == sum(rule["tp"] for rule in rules.values())


def test_splits_and_text(pyrometer: Command, corpus: Path) -> None:  # noqa: F811
    assert len(evaluate(pyrometer, corpus, "--split", "a")["runs"]) == 1
    text = pyrometer("evaluate", corpus).stdout
    assert "disk-spill missed" in text and "no findings in 1 of 2 healthy runs" in text
    assert "| data-skew | 0 | 0 | 1 | 0.00 | - | 0 |" in pyrometer("evaluate", corpus, "-f", "markdown").stdout


def test_feedback_counts_as_labels(pyrometer: Command, corpus: Path, tmp_path: Path) -> None:  # noqa: F811
    store = f"sqlite:{tmp_path / 'runs.db'}"
    log = CORPUS / "logs" / "straggler.zst"
    report = json.loads(pyrometer("diagnose", log, "-f", "json", "-s", store).stdout)
    finding = next(one["id"] for one in report["findings"] if one["rule"] == "straggler")
    pyrometer("feedback", finding, "--verdict", "false-positive", "-s", store)
    pyrometer("feedback", log, "--missed", "gc-pressure", "-s", store)
    pyrometer("feedback", log, "--missed", "the lake was slow", "-s", store)
    rules = evaluate(pyrometer, corpus, "-s", store)["rules"]
    assert (rules["straggler"]["tp"], rules["straggler"]["fp"]) == (1, 1)
    assert rules["gc-pressure"]["fn"] == 1


@pytest.mark.slow
def test_the_recorded_corpus_agrees_with_a_plain_count(pyrometer: Command) -> None:  # noqa: F811
    manifest = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    labels = {entry["file"]: entry for entry in manifest["logs"]}
    done = evaluate(pyrometer, CORPUS)
    assert {run["file"] for run in done["runs"]} == set(labels)
    for run in done["runs"]:
        report = json.loads(pyrometer("diagnose", "-f", "json", CORPUS / run["file"]).stdout)
        found = {one["rule"] for one in report["findings"] if one["severity"] != "low"}
        expected, allowed = set(labels[run["file"]]["expected"]), set(labels[run["file"]]["allowed"])
        assert set(run["right"]) == found & expected and set(run["missed"]) == expected - found
        assert set(run["wrong"]) == found - expected - allowed
    total = done["total"]
    assert total["tp"] == sum(len(run["right"]) for run in done["runs"])


@pytest.mark.parametrize(
    ("manifest", "status"),
    [
        (None, 3),
        ("{", 3),
        ('{"runs": []}', 3),
        ('{"logs": [{"expected": []}]}', 3),
        ('{"logs": [{"file": "../secret"}]}', 3),
        ('{"logs": []}', 0),
    ],
)
def test_bad_manifests(pyrometer: Command, tmp_path: Path, manifest: str | None, status: int) -> None:  # noqa: F811
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest, encoding="utf-8")
    run = pyrometer("evaluate", tmp_path)
    assert run.returncode == status
    assert len(run.stderr.splitlines()) == (1 if status else 0), run.stderr
