"""The scheduler simulator against a second one (tests/oracle/simulator.py): unchanged runs, runs with other tasks, and
runs on other executors take the same time, job by job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
import simulator
from conftest import corpus_logs, lines_of, run_command

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "corpus" / "logs"
# Both are whole models: they differ by rounding only.
TOLERANCE_MS, TOLERANCE_SHARE = 20.0, 0.002
# The oracle lets no task wait for locality, and launches copies of tasks a little later.
LEFT_OUT = {"evicted_table", "locality_hosts", "locality_wait", "speculation_python"}
EDITED = [
    "data_skew",
    "executor_lost",
    "healthy_etl",
    "healthy_threads",
    "stage_retries",
    "task_failures",
    "too_many_partitions",
]
# Other cores would cut files otherwise and share processors otherwise: the oracle knows the scheduler only.
ALONE = [word for model in ("partitions", "host", "allocation", "memory", "first_tasks") for word in ("--without", model)]
CLUSTERS = [(1, 1), (1, 4), (3, 2), (8, 2), (40, 4)]


def names() -> List[str]:
    return sorted(path.stem for path in LOGS.glob("*.zst") if path.stem not in LEFT_OUT)


def near(one: float, other: float) -> bool:
    return abs(one - other) <= max(TOLERANCE_MS, TOLERANCE_SHARE * max(one, other))


def same(done: simulator.Simulation, scenario: Dict[str, Any]) -> None:
    assert near(done.wall, scenario["wall_ms"]["expected"]), (done.wall, scenario["wall_ms"])
    assert {job["id"] for job in scenario["jobs"]} == set(done.jobs_ended)
    for job in scenario["jobs"]:
        assert near(done.jobs_begun[job["id"]], job["start_ms"]), (job, done.jobs_begun[job["id"]])
        assert near(done.jobs_ended[job["id"]], job["end_ms"]), (job, done.jobs_ended[job["id"]])


def whatif(binary: str, path: Path, *words: str) -> Dict[str, Any]:
    run = run_command([binary, "whatif", str(path), "--format", "json", *words])
    assert run.exit == 0, run.explain()
    (scenario,) = run.json["scenarios"]
    return dict(scenario)


@pytest.mark.parametrize("path", corpus_logs(names()))
def test_unchanged_runs(binary: str, path: Path) -> None:
    try:
        done = simulator.replay(list(lines_of(path)))
    except ValueError as error:
        pytest.skip(str(error))
    same(done, whatif(binary, path))


@pytest.mark.parametrize(("executors", "cores"), CLUSTERS)
@pytest.mark.parametrize("path", corpus_logs(EDITED))
def test_other_executors(binary: str, path: Path, executors: int, cores: int) -> None:
    words = ["--executors", str(executors), "--cores", str(cores), *ALONE]
    same(simulator.replay(list(lines_of(path)), (executors, cores)), whatif(binary, path, *words))


def slower(lines: Tuple[bytes, ...], factor: float) -> List[bytes]:
    """Every second task takes `factor` times as long; stages and jobs as the log says."""
    changed = []
    for line in lines:
        record = json.loads(line)
        info = record.get("Task Info")
        if record["Event"] == "SparkListenerTaskEnd" and info["Task ID"] % 2 == 0:
            info["Finish Time"] = info["Launch Time"] + int(factor * (info["Finish Time"] - info["Launch Time"]))
            line = json.dumps(record).encode()
        changed.append(line)
    return changed


@pytest.mark.parametrize("factor", [0.25, 4])
@pytest.mark.parametrize("path", corpus_logs(EDITED))
def test_other_tasks(binary: str, tmp_path: Path, path: Path, factor: float) -> None:
    lines = slower(lines_of(path), factor)
    edited = tmp_path / path.stem
    edited.write_bytes(b"\n".join(lines) + b"\n")
    done = simulator.replay(lines)
    same(done, whatif(binary, edited))
    if factor > 1:
        assert not near(done.wall, simulator.replay(list(lines_of(path))).wall), "the edit changes nothing"


def test_the_comparison_tells_a_difference(binary: str) -> None:
    """One slot less in the oracle alone is noticed."""
    done = simulator.replay(list(lines_of(LOGS / "healthy_etl.zst")), (1, 3))
    with pytest.raises(AssertionError):
        same(done, whatif(binary, LOGS / "healthy_etl.zst", "--executors", "1", "--cores", "4", *ALONE))
