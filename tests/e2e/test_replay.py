"""The scheduler simulator on recorded runs: the unchanged replay takes as long as the run did, and launch times of tasks
have no part in that."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

import pytest
from conftest import ROOT, corpus_logs, lines_of, run_on_log

LOGS = ROOT / "corpus" / "logs"
ERROR_MAX = 0.02
# Executors that die of a full heap, whose tasks' records are not whole; and that take no tasks some time before they go,
# which no event says.
LARGER = {"oom_groups": 0.03, "decommission": 0.025}
SHIFTED = ["data_skew", "executor_lost", "healthy_star", "resource_wait", "task_failures", "too_many_partitions"]


def is_complete(report: Dict[str, Any]) -> bool:
    integrity, events = report["integrity"], report["integrity"]["events"]
    return (
        not integrity["truncated"]
        and not integrity["in_progress"]
        and not integrity["bad_lines"]
        and "SparkListenerApplicationStart" in events
        and "SparkListenerApplicationEnd" in events
        and (report["application"]["duration_ms"] or 0) > 0
    )


def reports_of(run: Any) -> List[Dict[str, Any]]:
    return run.json["reports"] if "reports" in run.json else [run.json]


def test_unchanged_replay_takes_as_long_as_the_run(log_path: Path) -> None:
    run = run_on_log(log_path)
    if run.exit == 3:
        return
    for report in reports_of(run):
        replay = report["replay"]
        assert replay["measured_ms"] == (report["application"]["duration_ms"] or 0)
        if not is_complete(report):
            continue
        assert replay["error_share"] <= LARGER.get(log_path.stem, ERROR_MAX), replay
        distance = abs(replay["replayed_ms"] - replay["measured_ms"]) / replay["measured_ms"]
        assert replay["error_share"] == pytest.approx(distance)
        # Inside as well: no job ends far from where it ended.
        assert replay["worst_job_ms"] <= max(0.1 * replay["measured_ms"], 100), replay


def shifted(plain: Sequence[bytes], seed: int) -> Tuple[bytes, int]:
    """The log with every task moved by its own random time, its duration kept."""
    chance = random.Random(seed)
    moves: Dict[int, int] = {}
    lines = []
    for line in plain:
        record = json.loads(line)
        info = record.get("Task Info")
        if isinstance(info, dict) and record["Event"] in ("SparkListenerTaskStart", "SparkListenerTaskEnd"):
            move = moves.setdefault(info["Task ID"], chance.randrange(-20000, 20000))
            for key in ("Launch Time", "Finish Time", "Getting Result Time"):
                if info.get(key, 0) > 0:
                    info[key] += move
            line = json.dumps(record, separators=(",", ":")).encode()
        lines.append(line)
    return b"\n".join(lines) + b"\n", len(moves)


@pytest.mark.parametrize("path", corpus_logs(SHIFTED))
def test_no_launch_time_enters(diagnose: Any, tmp_path: Path, path: Path) -> None:
    text, tasks = shifted(lines_of(path), 7)
    assert tasks > 20
    moved = tmp_path / path.stem
    moved.write_bytes(text)
    was, now = run_on_log(path).json, diagnose(moved).json
    assert was["accounting"]["wall"]["parts"] != now["accounting"]["wall"]["parts"], "nothing was shifted"
    assert was["replay"] == now["replay"]


def test_executors_that_never_come_do_not_hang(diagnose: Any, tmp_path: Path) -> None:
    """Without executors, and with executors of no cores, a replay ends."""
    none, empty = [], []
    for line in lines_of(LOGS / "healthy_rdd.zst"):
        record = json.loads(line)
        if record["Event"] == "SparkListenerExecutorAdded":
            record["Executor Info"]["Total Cores"] = 0
            empty.append(json.dumps(record).encode())
            continue
        none.append(line)
        empty.append(line)
    for name, lines in (("none", none), ("empty", empty)):
        path = tmp_path / name
        path.write_bytes(b"\n".join(lines) + b"\n")
        assert diagnose(path).json["replay"]["replayed_ms"] > 0
