"""Executors that are decommissioned, and external shuffle services that die, as Spark recorded them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import pytest
from conftest import ROOT, run_command

RECORDED = ROOT / "tests" / "logs" / "clusters"
CHURN = ROOT / "corpus" / "logs" / "executor_churn.zst"
TAKEN = b"Executor decommission: worker decommissioned"


def lines_of(log: Path) -> bytes:
    return subprocess.run(["zstd", "-dc", str(log)], check=True, capture_output=True).stdout


def events_of(text: bytes) -> List[Dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def changed(tmp_path: Path, log: Path, *changes: Tuple[bytes, bytes]) -> Path:
    text = lines_of(log)
    for before, after in changes:
        assert before in text, "the change is not one"
        text = text.replace(before, after)
    (tmp_path / "log").write_bytes(text)
    return tmp_path / "log"


def found_in(report: Dict[str, Any]) -> Dict[str, Dict[str, Any]]:
    return {finding["rule"]: finding for finding in report["findings"]}


def evidence_of(finding: Dict[str, Any]) -> Dict[str, float]:
    return {one["metric"]: one["value"] for one in finding["evidence"]}


# ---- decommissioning --------------------------------------------------------------------------------------------------


def test_a_decommissioned_executor_is_not_lost(diagnose: Any) -> None:
    events = events_of(lines_of(RECORDED / "decommission.zst"))
    (removed,) = [one for one in events if one["Event"] == "SparkListenerExecutorRemoved"]
    assert removed["Removed Reason"].encode() == TAKEN
    report = diagnose(RECORDED / "decommission.zst").json
    found = found_in(report)
    assert not set(found) & {"executor-lost", "executor-oom", "executor-churn", "stage-retries", "cache-eviction"}
    assert report["totals"]["failed_tasks"] == 0
    for account in (report["accounting"]["wall"], report["accounting"]["core"]):
        assert sum(part["ms"] for part in account["parts"]) == account["total_ms"]
    if "locality-wait" in found:
        assert evidence_of(found["locality-wait"])["waiting_executors"] == 1, "the other one got no more tasks"


def test_an_executor_that_died_at_that_time_is_lost(diagnose: Any, tmp_path: Path) -> None:
    log = changed(tmp_path, RECORDED / "decommission.zst", (TAKEN, b"Command exited with code 137"))
    assert "executor-lost" in found_in(diagnose(log).json)


def test_blocks_that_were_moved_count_once(binary: str) -> None:
    """A block that its executor has moved keeps its size in the log, at a replication of 0."""
    live: Dict[Tuple[str, str], int] = {}
    moved = most = 0
    log = RECORDED / "decommission.zst"
    for one in events_of(lines_of(log)):
        info = one.get("Block Updated Info", {"Block ID": ""})
        if info["Block ID"].startswith("rdd_"):
            there = info["Storage Level"]["Replication"] > 0
            live[info["Block Manager ID"]["Executor ID"], info["Block ID"]] = info["Memory Size"] if there else 0
            moved += not there
            most = max(most, sum(live.values()))
    assert moved > 0
    rows = run_command([binary, "sql", "--format", "json", str(log), "SELECT * FROM rdds WHERE cached = 1"]).json
    assert [(row["memory_bytes"], row["dropped_blocks"]) for row in rows] == [(most, 0)]


@pytest.mark.parametrize("reason, churns", [(TAKEN, False), (b"Executor decommission: spark scale down", True)])
def test_nodes_that_are_taken_back_are_no_churn(diagnose: Any, tmp_path: Path, reason: bytes, churns: bool) -> None:
    """Dynamic allocation decommissions executors too; only then other settings of it keep them."""
    log = changed(tmp_path, CHURN, (b'"Removed Reason":"Executor killed by driver."', b'"Removed Reason":"' + reason + b'"'))
    found = found_in(diagnose(log).json)
    assert ("executor-churn" in found) == churns
    assert "executor-lost" not in found


# ---- external shuffle services -----------------------------------------------------------------------------------------


def fetch_failures(events: List[Dict[str, Any]]) -> int:
    ends = [one for one in events if one["Event"] == "SparkListenerTaskEnd"]
    return sum(one["Task End Reason"]["Reason"] == "FetchFailed" for one in ends)


@pytest.mark.parametrize("name", ["service-restarted", "service-lost"])
def test_a_dead_service_is_named(diagnose: Any, name: str) -> None:
    events = events_of(lines_of(RECORDED / f"{name}.zst"))
    assert not [one for one in events if one["Event"] == "SparkListenerExecutorRemoved"]
    report = diagnose(RECORDED / f"{name}.zst").json
    found = found_in(report)
    assert not set(found) & {"executor-lost", "task-failures", "executor-oom"}
    assert ("job-failed" in found) == (name == "service-lost")
    retries = found["stage-retries"]
    assert evidence_of(retries)["fetch_failures"] == fetch_failures(events)
    assert "the external shuffle service at /127.0.0." in retries["cause"] and ":17079 did not answer" in retries["cause"]
    texts = " ".join(advice["text"] for advice in retries["advice"])
    assert "Find out why the external shuffle service" in texts and "Check the network" not in texts


CASES: Dict[str, Tuple[bytes, bytes, Callable[[str, str], bool]]] = {
    "without a service": (
        b'"spark.shuffle.service.enabled":"true"',
        b'"spark.shuffle.service.enabled":"false"',
        lambda cause, texts: "shuffle service" not in cause and "Check the network" in texts,
    ),
    "another port": (
        b'"spark.shuffle.service.port":"17079"',
        b'"spark.shuffle.service.port":"7079"',
        lambda cause, texts: "shuffle service" not in cause and "Check the network" in texts,
    ),
    "registration lost": (
        b"Failed to connect to ",
        b"Executor is not registered, says ",
        lambda cause, texts: "did not know the executor" in cause and "yarn.nodemanager.recovery.enabled" in texts,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_other_failures_are_not_its_fault(diagnose: Any, tmp_path: Path, case: Any) -> None:
    before, after, right = case
    log = changed(tmp_path, RECORDED / "service-restarted.zst", (before, after))
    retries = found_in(diagnose(log).json)["stage-retries"]
    assert right(retries["cause"], " ".join(advice["text"] for advice in retries["advice"])), retries["cause"]
