"""With the plugin, a recording of Java Flight Recorder says which task a thread worked for, and logs name their task."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import run_command
from servers import plugin, shared, spark

JOB = Path(__file__).parent / "jobs" / "little.py"
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the event log and a recording of the executor."""
    shared.home_or_skip()
    shared.or_skip(plugin.jar)
    folder = tmp_path_factory.mktemp("recorded")
    bundle = folder / "bundle"
    bundle.mkdir()
    options = f"-XX:StartFlightRecording=settings=profile,filename={bundle}/executor.jfr"
    run = plugin.run(spark.SPARK_3, JOB, folder / "run", {"spark.master": "local-cluster[1,2,1024]",
                                                          "spark.executor.extraJavaOptions": options})
    shutil.copy(run.log, bundle / run.log.name)
    assert (bundle / "executor.jfr").stat().st_size > 10_000
    return bundle


def query(binary: str, folder: Path, statement: str) -> List[Dict[str, Any]]:
    run = run_command([binary, "sql", str(folder), statement, "--format", "json"])
    assert run.exit == 0, run.explain()
    rows: List[Dict[str, Any]] = run.json
    return rows


def test_each_task_has_a_span_and_an_owner(recorded: Path, binary: str) -> None:
    tasks = query(binary, recorded, "SELECT id, stage, stage_attempt, launch_ms, finish_ms FROM tasks")
    owners = {row["task"]: row for row in query(binary, recorded, "SELECT * FROM owners WHERE method = 'named'")}
    spans = {row["value"]: row for row in query(binary, recorded, "SELECT * FROM spans WHERE kind = 'task'")}
    assert len(tasks) >= 5
    assert owners.keys() == spans.keys() == {row["id"] for row in tasks}
    for task in tasks:
        assert owners[task["id"]]["stage"] == task["stage"]
        took = spans[task["id"]]["duration_ns"] / 1e6
        assert 0 < took <= task["finish_ms"] - task["launch_ms"] + 50
    names = {row["value"]: row["name"] for row in spans.values()}
    assert any("status=FAILED" in name for name in names.values()) and any("status=SUCCESS" in name for name in names.values())


def test_samples_have_their_task(recorded: Path, binary: str) -> None:
    rows = query(binary, recorded, "SELECT task, count(*) AS n FROM samples WHERE task IS NOT NULL GROUP BY task")
    assert {row["task"] for row in rows} <= {row["id"] for row in query(binary, recorded, "SELECT id FROM tasks")}
