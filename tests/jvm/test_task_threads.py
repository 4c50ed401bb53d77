"""Records of which thread did which task: those of the event log, on the clocks that they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import pytest
from servers import plugin, shared, spark

JOB = Path(__file__).parent / "jobs" / "little.py"
TOLERANCE_NS = 5_000_000
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]


class TaskFile(NamedTuple):
    head: Dict[str, Any]
    offset_ns: int  # from the monotonic clock to the wall clock
    begins: List[Dict[str, Any]]
    ends: List[Dict[str, Any]]
    dropped: int


def read(path: Path) -> TaskFile:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    clocks = [row["clock"] for row in rows if "clock" in row]
    assert len(clocks) >= 2 and "clock" in rows[1] and "clock" in rows[-2]
    offsets = [clock["utc_ns"] - clock["monotonic_ns"] for clock in clocks]
    assert max(offsets) - min(offsets) < TOLERANCE_NS
    begins, ends = [row for row in rows if "begins" in row], [row for row in rows if "task" in row]
    return TaskFile(rows[0], offsets[0], begins, ends, rows[-1]["dropped"])


@pytest.fixture(scope="module", params=[(spark.SPARK_3, "local[2]"), (spark.SPARK_4, "local-cluster[2,1,1024]")],
                ids=["spark-3-local", "spark-4-cluster"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tuple[List[TaskFile], List[Dict[str, Any]]]:
    """The files of a run, and the ends of tasks in its event log."""
    version, master = request.param
    shared.home_or_skip(version)
    shared.or_skip(plugin.jar)
    folder = tmp_path_factory.mktemp("task-threads")
    conf = {"spark.master": master, "spark.pyrometer.trace.dir": str(folder / "made" / "tasks"), "spark.pyrometer.trace.lttng": "true"}
    run = plugin.run(version, JOB, folder / "run", conf)
    events = [json.loads(line) for line in run.log.read_text(encoding="utf-8").splitlines()]
    files = sorted((folder / "made" / "tasks").iterdir())
    (application,) = [event["App ID"] for event in events if event["Event"] == "SparkListenerApplicationStart"]
    found = [read(path) for path in files]
    for path, file in zip(files, found):
        assert path.name == f"task-threads-{application}-{file.head['executor']}-{file.head['pid']}.jsonl"
        assert file.head["application"] == application and file.head["version"] == 1 and "refused" not in file.head
    return found, [event for event in events if event["Event"] == "SparkListenerTaskEnd"]


def test_each_task_has_one_record(recorded: Tuple[List[TaskFile], List[Dict[str, Any]]]) -> None:
    files, tasks = recorded
    assert {file.head["executor"] for file in files} == {task["Task Info"]["Executor ID"] for task in tasks}
    by_id = {end["task"]: (file, end) for file in files for end in file.ends}
    assert len(by_id) == sum(len(file.ends) for file in files) == len(tasks)
    assert sum(file.dropped for file in files) == 0
    for task in tasks:
        info = task["Task Info"]
        file, end = by_id[info["Task ID"]]
        assert file.head["executor"] == info["Executor ID"]
        assert (end["stage"], end["attempt"], end["partition"]) == (task["Stage ID"], task["Stage Attempt ID"], info["Partition ID"])
        assert end["status"] == ("FAILED" if info["Failed"] else "SUCCESS")
        start, finish = end["start_ns"] + file.offset_ns, end["end_ns"] + file.offset_ns
        assert info["Launch Time"] * 1_000_000 - TOLERANCE_NS <= start <= finish <= info["Finish Time"] * 1_000_000 + TOLERANCE_NS


def test_each_end_has_its_beginning(recorded: Tuple[List[TaskFile], List[Dict[str, Any]]]) -> None:
    files, _ = recorded
    for file in files:
        begins = {row["begins"]: row for row in file.begins}
        assert set(begins) == {end["task"] for end in file.ends}
        for end in file.ends:
            begin = begins[end["task"]]
            assert all(begin[key] == end[key] for key in ("stage", "attempt", "tid", "start_ns"))


def test_a_thread_does_one_task_at_a_time(recorded: Tuple[List[TaskFile], List[Dict[str, Any]]]) -> None:
    files, _ = recorded
    for file in files:
        for first in file.ends:
            for second in file.ends:
                together = first["start_ns"] < second["end_ns"] and second["start_ns"] < first["end_ns"]
                assert not together or first is second or first["tid"] != second["tid"]
        assert file.head["pid"] not in {end["tid"] for end in file.ends}
