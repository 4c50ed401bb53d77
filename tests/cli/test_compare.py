"""compare: pairs of real runs with a known difference, exact sums, and logs that do not fit together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli_command import ROOT, Command, log, pyrometer  # noqa: F401 (fixtures)
from test_verbs import validate

LOGS = ROOT / "corpus" / "logs"


def comparison(pyrometer: Command, before: Any, after: Any) -> Any:
    """The comparison of two logs, with what must hold of every one."""
    run = pyrometer("compare", before, after, "--format", "json")
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    validate(document, "comparison")
    assert sum(cause["ms"] for cause in document["causes"]) == document["difference_ms"]
    assert document["wall"]["after_ms"] - document["wall"]["before_ms"] == document["difference_ms"]
    for side in ("before_ms", "after_ms"):
        assert sum(part[side] for part in document["wall"]["parts"]) == document["wall"][side]
    for stage in document["stages"]:
        assert sum(stage["causes"].values()) == stage["difference_ms"]
    stage_causes: dict[str, int] = {}
    for stage in document["stages"]:
        for name, ms in stage["causes"].items():
            stage_causes[name] = stage_causes.get(name, 0) + ms
    for cause in document["causes"]:
        if cause["name"] not in ("executor_wait", "driver", "retries", "unexplained"):
            assert cause["ms"] == stage_causes.get(cause["name"], 0)
    return document


def ms_by_cause(document: Any) -> dict[str, int]:
    return {cause["name"]: cause["ms"] for cause in document["causes"]}


def test_twice_the_data(pyrometer: Command) -> None:
    document = comparison(pyrometer, LOGS / "pair_base.zst", LOGS / "pair_data.zst")
    assert document["causes"][0]["name"] == "data"
    assert "the amount of data" in document["explanation"][1]
    assert document["matched"]["share"] > 0.95
    assert not any("the plan" in line for line in document["explanation"])
    scans = [s for s in document["stages"] if s["data"] and s["before"]["tasks"] == 12]
    assert len(scans) == 2
    for stage in scans:
        assert stage["data"]["after"] / stage["data"]["before"] == pytest.approx(2, rel=0.01)


def test_half_the_slots(pyrometer: Command) -> None:
    document = comparison(pyrometer, LOGS / "pair_base.zst", LOGS / "pair_slots.zst")
    assert document["causes"][0]["name"] == "slots"
    assert "2.0 slots instead of 4.0" in document["explanation"][1]
    assert abs(ms_by_cause(document)["data"]) < 100


def test_another_plan(pyrometer: Command) -> None:
    document = comparison(pyrometer, LOGS / "pair_base.zst", LOGS / "pair_plan.zst")
    causes = ms_by_cause(document)
    assert causes["new_stages"] > 5000 and causes["gone_stages"] < -1000
    assert document["queries"]["changed"] == 2
    assert any("only the run after" in line and "the plan of its SQL execution changed" in line for line in document["explanation"])
    for query in document["queries"]["differences"]:
        changes = {row["name"]: row["after"] - row["before"] for row in query["operators"]}
        assert changes["SortMergeJoin"] == 1 and changes["BroadcastHashJoin"] == -1
    assert {"key": "spark.sql.autoBroadcastJoinThreshold", "before": None, "after": "-1"} in document["settings"]


def test_backwards_is_the_negative(pyrometer: Command) -> None:
    there = ms_by_cause(comparison(pyrometer, LOGS / "pair_base.zst", LOGS / "pair_slots.zst"))
    back = ms_by_cause(comparison(pyrometer, LOGS / "pair_slots.zst", LOGS / "pair_base.zst"))
    for name, ms in there.items():
        assert abs(ms + back[name]) <= 20, name  # rounding, a millisecond a stage


def test_a_run_and_itself(pyrometer: Command, log: Path) -> None:
    document = comparison(pyrometer, log, log)
    assert document["difference_ms"] == 0
    assert not any(ms_by_cause(document).values())
    assert document["settings"] == []
    assert document["findings"] == {"appeared": [], "vanished": [], "changed": []}
    assert "same time" in document["explanation"][0]
    assert len(document["explanation"]) == 1


def test_two_applications_hardly_match(pyrometer: Command) -> None:
    document = comparison(pyrometer, LOGS / "healthy_rdd.zst", LOGS / "data_skew.zst")
    assert document["matched"]["hardly"]
    assert "have little in common" in document["caveats"][0]
    assert "have little in common" in pyrometer("compare", LOGS / "healthy_rdd.zst", LOGS / "data_skew.zst").stdout
    appeared = [row["rule"] for row in document["findings"]["appeared"]]
    assert "data-skew" in appeared


@pytest.mark.slow
def test_every_pair_of_the_corpus_adds_up(pyrometer: Command) -> None:
    logs = sorted(LOGS.glob("*.zst"))
    for before, after in zip(logs[::3], logs[1::3]):
        comparison(pyrometer, before, after)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_for_people(pyrometer: Command, form: str) -> None:
    run = pyrometer("compare", LOGS / "pair_base.zst", LOGS / "pair_slots.zst", "-f", form)
    assert (run.returncode, run.stderr) == (0, "")
    assert "the number of slots" in run.stdout
    assert "collect at" in run.stdout
    if form == "text":
        assert max(len(line) for line in run.stdout.splitlines()) <= 80
    else:
        assert "| Wall time | Before | After | Change |" in run.stdout


def test_an_unfinished_log_is_named(pyrometer: Command, log: Path) -> None:
    data = log.read_bytes()
    (pyrometer.folder / "cut").write_bytes(data[: len(data) * 2 // 3])
    document = comparison(pyrometer, log, "cut")
    assert any("run after is incomplete" in line for line in document["caveats"])


def test_unreadable_logs(pyrometer: Command, log: Path) -> None:
    (pyrometer.folder / "noise").write_bytes(bytes(range(256)) * 64)
    for words in (["missing", log], [log, "missing"], [log, "noise"], [log, "-"]):
        run = pyrometer("compare", *words)
        assert (run.returncode, run.stdout) == (3, ""), words
        assert len(run.stderr.splitlines()) == 1


def test_wrong_usage(pyrometer: Command, log: Path) -> None:
    for words in ([log], [log, log, log], ["-", "-"], [log, LOGS], [log, log, "-f", "csv"]):
        run = pyrometer("compare", *words)
        assert (run.returncode, run.stdout) == (2, ""), words


def test_threads_never_show(pyrometer: Command) -> None:
    words = ("compare", LOGS / "pair_base.zst", LOGS / "pair_plan.zst", "-f", "json")
    assert pyrometer(*words, "--threads", "1").stdout == pyrometer(*words, "--threads", "5").stdout
