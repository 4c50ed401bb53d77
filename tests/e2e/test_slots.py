"""Slots of an executor: the minimum over its cores and every other resource that a task takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, NamedTuple

import pytest
from conftest import run_command
from test_unfinished_tasks import BEGIN, event, stage_info, task, written

MINUTE = 60_000


class Shape(NamedTuple):
    """Executors, and what each task takes; `slots` follows by Spark's rules."""

    slots: int
    cores: int = 8
    gpus: int = 1
    gpu: str = "1"
    cpus: int = 1
    profile: bool = False
    addresses: bool = True
    executors: int = 3
    waves: int = 3


SHAPES = {
    "one GPU": Shape(1),
    "two GPUs": Shape(2, gpus=2),
    "a quarter of a GPU": Shape(4, gpu="0.25"),
    "12 tasks share a GPU": Shape(8, gpu="0.08"),
    "12 tasks share a GPU, 16 cores": Shape(12, gpu="0.08", cores=16),
    "a tenth of a GPU": Shape(10, gpu="0.1", cores=16),
    "two GPUs a task": Shape(2, gpus=5, gpu="2"),
    "CPUs are fewer": Shape(2, cpus=4, gpu="0.25"),
    "profile": Shape(1, profile=True),
    "profile with CPUs": Shape(2, profile=True, cpus=4, gpu="0.08"),
    "profile without addresses": Shape(3, profile=True, gpus=3, addresses=False),
    "settings without addresses": Shape(2, gpus=2, addresses=False),
}


def log_of(shape: Shape, busy: bool = True, locality: str = "PROCESS_LOCAL") -> List[Dict[str, Any]]:
    """Waves of tasks of a minute on all slots; `busy` false: on those of the first executor alone."""
    properties = {"spark.app.id": "app-1", "spark.master": "spark://host:7077", "spark.executor.cores": str(shape.cores)}
    properties["spark.executor.instances"] = str(shape.executors)
    profile = 1 if shape.profile else 0
    added = []
    if shape.profile:
        amounts = {"cores": shape.cores, "gpu": shape.gpus}
        asked = {name: {"Resource Name": name, "Amount": amount} for name, amount in amounts.items()}
        takes = {"cpus": float(shape.cpus), "gpu": float(shape.gpu)}
        task_side = {name: {"Resource Name": name, "Amount": amount} for name, amount in takes.items()}
        added.append(
            event(
                "ResourceProfileAdded",
                **{
                    "Resource Profile Id": 1,
                    "Executor Resource Requests": asked,
                    "Task Resource Requests": task_side,
                },
            )
        )
    else:
        properties["spark.task.resource.gpu.amount"] = shape.gpu
        properties["spark.executor.resource.gpu.amount"] = str(shape.gpus)
        properties["spark.task.cpus"] = str(shape.cpus)
    for number in range(shape.executors):
        resources = {"gpu": {"name": "gpu", "addresses": [str(n) for n in range(shape.gpus)]}} if shape.addresses else {}
        info = {
            "Host": f"host{number}",
            "Total Cores": shape.cores,
            "Log Urls": {},
            "Resources": resources,
            "Resource Profile Id": profile,
        }
        added.append(
            event("ExecutorAdded", **{"Timestamp": BEGIN + 500, "Executor ID": str(number), "Executor Info": info})
        )
    used = range(shape.executors if busy else 1)
    count, end = shape.waves * len(used) * shape.slots, 1000 + shape.waves * MINUTE
    stage = {**stage_info(), "Number of Tasks": count, "Resource Profile Id": profile}
    completed = {**stage, "Completion Time": BEGIN + end}
    events = [
        event("LogStart", **{"Spark Version": "3.5.1"}),
        event("EnvironmentUpdate", **{"Spark Properties": properties}),
        event("ApplicationStart", **{"App Name": "slots", "App ID": "app-1", "Timestamp": BEGIN, "User": "u"}),
        *added,
        event("JobStart", **{"Job ID": 0, "Submission Time": BEGIN + 1000, "Stage Infos": [stage], "Stage IDs": [0]}),
        event("StageSubmitted", **{"Stage Info": stage}),
    ]
    number = 0
    for wave in range(shape.waves):
        for executor in used:
            for _ in range(shape.slots):
                begin = 1000 + wave * MINUTE
                for one in (
                    task("TaskStart", number, str(executor), begin),
                    task("TaskEnd", number, str(executor), begin, begin + MINUTE),
                ):
                    one["Task Info"]["Locality"] = locality
                    events.append(one)
                number += 1
    events.append(event("StageCompleted", **{"Stage Info": completed}))
    result = {"Result": "JobSucceeded"}
    events.append(event("JobEnd", **{"Job ID": 0, "Completion Time": BEGIN + end, "Job Result": result}))
    events.append(event("ApplicationEnd", **{"Timestamp": BEGIN + end + 500}))
    return events


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_full_slots_are_not_idle(diagnose: Any, tmp_path: Path, shape: Shape) -> None:
    report = diagnose(written(tmp_path / "log", log_of(shape))).json
    found = {finding["rule"]: finding for finding in report["findings"]}
    unusable = shape.cores - shape.slots * shape.cpus
    assert set(found) == ({"config-risk"} if unusable else set())
    if unusable:
        assert "resource gpu" in found["config-risk"]["cause"] or shape.slots == shape.cores // shape.cpus
        assert f"{unusable} of them are always idle" in found["config-risk"]["cause"]
    assert report["replay"]["error_share"] == 0, "the replay fills the same slots"


@pytest.mark.parametrize("name", ["one GPU", "profile", "a quarter of a GPU"])
def test_slots_that_are_idle_are_found(diagnose: Any, tmp_path: Path, name: str) -> None:
    report = diagnose(written(tmp_path / "log", log_of(SHAPES[name]._replace(waves=6), busy=False, locality="ANY"))).json
    (idle,) = [finding for finding in report["findings"] if finding["rule"] == "idle-executors"]
    assert "1 of 3 executors is enough" in idle["cause"]
    share = next(evidence for evidence in idle["evidence"] if evidence["metric"] == "idle_share")
    assert share["value"] == pytest.approx(2 / 3, abs=0.02)


def test_fewer_cores_do_not_make_fewer_slots_where_the_gpu_limits(binary: str, tmp_path: Path) -> None:
    log = written(tmp_path / "log", log_of(SHAPES["one GPU"]))
    run = run_command([binary, "whatif", "--sweep", "cores=1..2", "--format", "json", str(log)])
    assert [scenario["wall_ms"]["expected"] for scenario in run.json["scenarios"]] == [181_500] * 2


def test_resources_are_a_column(binary: str, tmp_path: Path) -> None:
    log = written(tmp_path / "log", log_of(SHAPES["two GPUs"]))
    statement = "SELECT DISTINCT resources FROM executors"
    assert run_command([binary, "sql", "--format", "json", str(log), statement]).json == [{"resources": "gpu=2"}]
