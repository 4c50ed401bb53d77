"""The profilers for PySpark in real applications, on each version of Spark."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import pytest
from conftest import ROOT
from servers import Unavailable, spark
from servers.spark import spark_runs

sys.path.insert(0, str(ROOT / "python"))

from make_zip import make_zip  # noqa: E402

JOB = Path(__file__).parent / "jobs" / "profiled_job.py"
INTERVAL_MS = 20
Records = Dict[str, List[Dict[str, Any]]]


class Profiled(NamedTuple):
    """What an application left behind."""

    files: Records
    printed: List[Dict[str, Any]]
    tasks: Dict[int, Tuple[int, int, int]]  # by id: stage, launch, finish
    arrow: bool

    def stacks(self, function: str) -> List[Dict[str, Any]]:
        """The records of the file that has this function."""
        found = [rows for name, rows in self.files.items() if name.endswith("_stack.json") and counted(rows, function)]
        assert len(found) == 1, sorted(self.files)
        return found[0]


def counted(records: List[Dict[str, Any]], function: str) -> int:
    """How often a function of the job was the innermost one."""
    place = f"{JOB.name}:{function}:"
    return sum(record["count"] for record in records if place in record["stacktrace"][0])


def run_job(version: str, folder: Path) -> Profiled:
    try:
        venv = spark.venv(version)
    except Unavailable as reason:
        pytest.skip(str(reason))
    environment = {}
    try:
        environment["PYTHONPATH"] = str(spark.arrow_packages())
    except Unavailable:
        pass
    settings = {
        "spark.submit.pyFiles": str(make_zip(folder / "pyrometer-profilers.zip")),
        "spark.python.profile": "true",
        "spark.pyrometer.python.profile.intervalMs": str(INTERVAL_MS),
    }
    run = spark_runs.Run("profiled", JOB, conf=settings, args=[str(folder / "profiles")])
    spark_runs.run_to_end(venv, folder / "work", run, folder / "events", extra_env=environment)
    files = {
        path.name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (folder / "profiles").iterdir()
    }
    output = (folder / "work" / "profiled.out").read_text(encoding="utf-8")
    printed = [json.loads(line) for line in output.splitlines() if line.startswith(('{"stacktrace"', '{"pid"'))]
    log = next(spark_runs.logs_in(folder / "events"))
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    ends = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
    tasks = {
        end["Task Info"]["Task ID"]: (end["Stage ID"], end["Task Info"]["Launch Time"], end["Task Info"]["Finish Time"])
        for end in ends
    }
    return Profiled(files, printed, tasks, bool(environment))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(version, marks=[pytest.mark.slow, pytest.mark.xdist_group(f"profilers {version}")])
        for version in spark.VERSIONS
    ],
)
def profiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    return run_job(request.param, tmp_path_factory.mktemp("profiled"))


def test_the_hot_function_of_an_rdd_dominates(profiled: Profiled) -> None:
    records = profiled.stacks("hot")
    assert counted(records, "hot") > 0.7 * sum(record["count"] for record in records)
    frames = next(record["stacktrace"] for record in records if f"{JOB.name}:hot:" in record["stacktrace"][0])
    functions = [frame.rsplit(":", 2)[1] for frame in frames]
    assert functions[:2] == ["hot", "mostly_hot"]
    assert functions[-1] == "_run_module_as_main"


def test_the_slow_function_of_a_column_dominates(profiled: Profiled) -> None:
    records = profiled.stacks("slow_row")
    assert counted(records, "slow_row") > 0.7 * sum(record["count"] for record in records)


def test_the_slow_function_of_batches_dominates(profiled: Profiled) -> None:
    if not profiled.arrow:
        pytest.skip("pandas and pyarrow cannot be installed")
    records = profiled.stacks("slow_batch")
    assert counted(records, "slow_batch") > 0.7 * sum(record["count"] for record in records)


def test_processor_time_distinguishes_work_from_waiting(profiled: Profiled) -> None:
    def for_a_sample(function: str) -> float:
        own = [record for record in profiled.stacks(function) if counted([record], function)]
        return sum(record["cpuMillis"] for record in own) / sum(record["count"] for record in own)

    assert for_a_sample("hot") > 3 * for_a_sample("slow_row")


def test_records_are_within_their_tasks(profiled: Profiled) -> None:
    records = [record for rows in profiled.files.values() for record in rows]
    assert {record["stageId"] for record in records} == {stage for stage, _, _ in profiled.tasks.values()}
    for record in records:
        stage, launch, finish = profiled.tasks[record["taskAttemptId"]]
        assert record["stageId"] == stage
        assert launch <= record["epochMillis"] <= record.get("lastEpochMillis", record["epochMillis"]) <= finish + 1


def test_files_have_the_names_of_their_rdd_function_and_process(profiled: Profiled) -> None:
    (name,) = (name for name, rows in profiled.files.items() if name.startswith("s_") and name.endswith("_stack.json"))
    number = name.split("_")[1]
    assert {record["i_d"] for record in profiled.files[name]} == {f"{number}_id"}
    assert {record["intervalMillis"] for record in profiled.files[name]} == {INTERVAL_MS}
    processes = {record["pid"] for record in profiled.files[name]}
    points = {name for name in profiled.files if name.endswith("_cpumem.json")}
    assert points == {f"s_{number}_{pid}_cpumem.json" for pid in processes}
    others = set(profiled.files) - points - {name}
    assert len(others) == 1 + profiled.arrow
    assert all(other.startswith("udf_") and other.endswith("_stack.json") for other in others)


def test_points_have_memory_and_processor_use(profiled: Profiled) -> None:
    points = [record for name, rows in profiled.files.items() if name.endswith("_cpumem.json") for record in rows]
    assert len(points) > 10
    assert all(record["pmem_vms"] > record["pmem_rss"] > 5 << 20 for record in points)
    assert max(record["cpu_percent"] for record in points) > 20


def test_show_profiles_prints_the_records_of_the_files(profiled: Profiled) -> None:
    def texts(records: List[Dict[str, Any]]) -> List[str]:
        return sorted(json.dumps(record, sort_keys=True) for record in records)

    assert texts(profiled.printed) == texts([record for rows in profiled.files.values() for record in rows])
