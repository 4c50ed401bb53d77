"""What a finding promises, and what `whatif` predicts for its fix, are one number; so are a plan and its simulation."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import pytest  # noqa: E402
from conftest import binary_path, log_paths, of_log, run_command, run_on_log  # noqa: E402

Json = Dict[str, Any]
MODELLED = set(re.findall(r'"(spark\.[\w.]+)"', (ROOT / "src" / "predict" / "settings.def").read_text(encoding="utf-8")))


def logs() -> List[Path]:
    folders = ("corpus/logs", "corpus/whatif/logs", "corpus/loop/logs", "tests/logs")
    return [log for folder in folders for log in log_paths(ROOT / folder)]


def name_of(log: Path) -> str:
    return log.relative_to(ROOT).as_posix()


def diagnosed(log: Path) -> Json:
    run = run_on_log(log)
    assert run.exit == 0, run.explain()
    report: Json = run.json
    return report


def predicted(log: Path, *options: str) -> Json:
    run = run_command([str(binary_path()), "whatif", "--format", "json", *options, str(log)])
    assert run.exit == 0, run.explain()
    document: Json = run.json
    return document


def words_of(log: Path, settings: Json) -> List[str]:
    """Return those that `whatif` can be asked for, as its options: models know them, or findings measured what they do."""
    words = {key: ("--set", f"{key}={value}") for key, value in settings.items()}
    measured = [part for key, word in words.items() if key not in MODELLED for part in word]
    known = [part for key, word in words.items() if key in MODELLED for part in word]
    if measured and run_command([str(binary_path()), "whatif", *measured, str(log)]).exit == 0:
        known += measured
    return known


def saved(document: Json) -> Json:
    """Return what the only scenario saves, as a finding says it."""
    (scenario,) = document["scenarios"]
    base, wall = document["base"], scenario["wall_ms"]
    expected = max(base["replayed_ms"] - wall["expected"], 0)
    return {
        "low": max(base["replayed_ms"] - wall["high"], 0),
        "expected": expected,
        "high": max(base["replayed_ms"] - wall["low"], expected),
    }


def every_log() -> List[Any]:
    return [
        pytest.param(log, id=name_of(log), marks=[of_log(name_of(log)), pytest.mark.every_log]) for log in logs()
    ]


@pytest.mark.parametrize("log", every_log())
def test_a_finding_saves_what_whatif_predicts(log: Path) -> None:
    report = diagnosed(log)
    for finding in report["findings"]:
        saves = finding["saves"]
        if saves["basis"] is None:
            assert saves["wall_ms"] == {"low": 0, "expected": 0, "high": 0}, finding["id"]
            continue
        document = predicted(log, "--fix", finding["id"])
        assert document["fixes"] == [finding["id"]]
        assert saved(document) == saves["wall_ms"], finding["id"]
        core = document["base"]["core_ms"] - document["scenarios"][0]["core_ms"]
        assert saves["core_ms"] in (max(core, 0), None), finding["id"]


@pytest.mark.parametrize("log", every_log())
def test_a_plan_is_what_whatif_predicts_and_no_slower(log: Path) -> None:
    report = diagnosed(log)
    plan = report["plan"]
    assert (plan is None) == (not report["config_changes"])
    if plan is None:
        return
    assert plan["settings"] == report["config_changes"]
    document = predicted(log, "--plan")
    (scenario,) = document["scenarios"]
    assert scenario["wall_ms"] == plan["wall_ms"]
    assert scenario["core_ms"] == plan["core_ms"]
    assert plan["wall_ms"]["expected"] <= document["base"]["replayed_ms"]
    settings = words_of(log, plan["settings"])
    if settings:
        assert predicted(log, *settings)["scenarios"][0]["wall_ms"] == plan["wall_ms"]


@pytest.mark.parametrize("log", every_log())
def test_an_action_saves_what_its_settings_do(log: Path) -> None:
    report = diagnosed(log)
    for action in report["actions"]:
        if action["saves"]["basis"] is None:
            continue
        assert saved(predicted(log, "--fix", action["id"])) == action["saves"]["wall_ms"], action["id"]
        if action["effort"] == "setting":  # else the program or the platform sets some of them
            words = words_of(log, action["config"])
            assert saved(predicted(log, *words)) == action["saves"]["wall_ms"], action["id"]


def test_fixes_are_refused_by_name() -> None:
    log = ROOT / "corpus" / "logs" / "data_skew.zst"
    binary = str(binary_path())
    run = run_command([binary, "whatif", "--fix", "data-skw", str(log)])
    assert run.exit == 2
    assert "no finding or action of this run has the id 'data-skw'" in run.err.decode()
    run = run_command([binary, "whatif", "--plan", str(ROOT / "corpus" / "logs" / "healthy_sql.zst")])
    assert run.exit == 2
    assert "there is no plan" in run.err.decode()


@pytest.mark.parametrize("form", ["text", "markdown", "junit", "sarif"])
def test_every_format_says_what_the_plan_does(form: str) -> None:
    run = run_command(
        [str(binary_path()), "diagnose", "--format", form, str(ROOT / "corpus" / "logs" / "too_many_partitions.zst")]
    )
    assert run.exit == 0, run.explain()
    text = run.out.decode().replace("&gt;", ">")
    said = "With (it|them): 44 s -> " if form in ("text", "markdown") else r"\d recommended settings?( together)?: 44 s -> "
    assert re.search(said, text)
