"""The rules on recorded runs: each planted fault is found, and nothing else is called a fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import ROOT, of_log, run_on_log

CORPUS = ROOT / "corpus"
MANIFEST = CORPUS / "manifest.json"


def entries() -> List[Any]:
    """One parameter for each log of the corpus."""
    if not MANIFEST.is_file():
        return [pytest.param(None, id="corpus", marks=pytest.mark.skip(reason="corpus/manifest.json is missing"))]
    content = json.loads(MANIFEST.read_text(encoding="utf-8"))
    logs = content["logs"] if isinstance(content, dict) else content
    return [
        pytest.param(entry, id=Path(entry["file"]).stem, marks=[of_log(f"corpus/{Path(entry['file']).name}"), pytest.mark.every_log])
        for entry in logs
    ]


def findings_of(entry: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The findings that the command reports for a log of the manifest."""
    run = run_on_log(CORPUS / entry["file"])
    assert run.exit == 0, run.explain()
    return run.json["findings"]


def describe(findings: List[Dict[str, Any]]) -> str:
    return "\n".join(f"{one['severity']} {one['id']}: {one['cause']}" for one in findings) or "no findings"


@pytest.mark.parametrize("entry", entries())
def test_corpus(entry: Dict[str, Any]) -> None:
    findings = findings_of(entry)
    serious = {one["rule"] for one in findings if one["severity"] != "low"}
    missed = set(entry["expected"]) - serious
    assert not missed, f"missed {sorted(missed)}\n{describe(findings)}"
    unsaid = set(entry.get("noted", [])) - {one["rule"] for one in findings}
    assert not unsaid, f"said nothing of {sorted(unsaid)}\n{describe(findings)}"
    wrong = serious - set(entry["expected"]) - set(entry["allowed"])
    assert not wrong, f"wrong {sorted(wrong)}\n{describe(findings)}"
    if entry["healthy"]:
        assert not serious, describe(findings)


@pytest.mark.parametrize("entry", entries())
def test_findings_are_whole(entry: Dict[str, Any]) -> None:
    report = run_on_log(CORPUS / entry["file"]).json
    findings, actions = report["findings"], report["actions"]
    assert len({one["id"] for one in findings}) == len(findings)
    # What ended the application, then in the order of the actions; reasons come before what follows from them.
    order = {id: place for place, action in reversed(list(enumerate(actions))) for id in action["cures"]}
    reasons = {one["follows"] for one in findings}
    rows = [one for one in findings if one["id"] not in reasons]
    while rows and rows[0]["severity"] == "critical" and rows[0]["category"] in ("failures", "driver"):
        rows.pop(0)
    places_of_actions = [order.get(one["id"], len(actions)) for one in rows]
    assert places_of_actions == sorted(places_of_actions)
    places = {one["id"]: place for place, one in enumerate(findings)}
    for one in findings:
        assert one["follows"] is None or one["severity"] == "low" or places[one["follows"]] < places[one["id"]]
        wall = one["saves"]["wall_ms"]
        assert 0 <= wall["low"] <= wall["expected"] <= wall["high"]
        assert 0 <= one["confidence"] <= 1
        assert one["cause"] and one["evidence"] and one["advice"]
        assert all(advice["text"] and advice["verify"] for advice in one["advice"])


@pytest.mark.parametrize("entry", entries())
def test_findings_name_all_stages_that_they_are_about(entry: Dict[str, Any]) -> None:
    run = run_on_log(CORPUS / entry["file"])
    known = {(stage["id"], stage["attempt"]) for stage in run.json["stages"]}
    for one in run.json["findings"]:
        stages = list(zip(one["stages"]["id"], one["stages"]["attempt"]))
        assert len(stages) == len(set(stages)) == one["stages"]["count"], one["id"]
        assert set(stages) <= known
        if one["where"]["stage"] is not None:
            assert (one["where"]["stage"], one["where"]["attempt"]) in stages
        said = [row["value"] for row in one["evidence"] if row["metric"] == "stages"]
        assert not said or said == [len(stages)], one["id"]
