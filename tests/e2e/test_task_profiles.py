"""Resource profiles that only say what tasks take: they share the executors of the default profile, with other slots."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import run_command
from test_unfinished_tasks import BEGIN, event, stage_info, task, written

MINUTE = 60_000


def run_of(takes: Dict[str, float], slots: int, cores: int = 8, gpus: int = 0) -> List[Dict[str, Any]]:
    """Two executors; a stage of the default profile fills their cores, then one of profile 1 its `slots` of each."""
    properties = {"spark.app.id": "app-1", "spark.master": "spark://host:7077", "spark.executor.instances": "2"}
    if gpus:
        properties.update({"spark.executor.resource.gpu.amount": str(gpus), "spark.task.resource.gpu.amount": "0.125"})
    requests = {name: {"Resource Name": name, "Amount": amount} for name, amount in takes.items()}
    profile = {"Resource Profile Id": 1, "Executor Resource Requests": {}, "Task Resource Requests": requests}
    events = [
        event("LogStart", **{"Spark Version": "3.5.1"}),
        event("ResourceProfileAdded", **profile),
        event("EnvironmentUpdate", **{"Spark Properties": properties}),
        event("ApplicationStart", **{"App Name": "shares", "App ID": "app-1", "Timestamp": BEGIN, "User": "u"}),
    ]
    for number in range(2):
        resources = {"gpu": {"name": "gpu", "addresses": [str(n) for n in range(gpus)]}} if gpus else {}
        info = {"Host": f"host{number}", "Total Cores": cores, "Log Urls": {}, "Resources": resources}
        added = {"Timestamp": BEGIN + 500, "Executor ID": str(number), "Executor Info": {**info, "Resource Profile Id": 0}}
        events.append(event("ExecutorAdded", **added))
    at = number = 0
    for stage_id, width in ((0, cores), (1, slots)):
        at += 1000
        count = 3 * 2 * width
        stage = {
            **stage_info(),
            "Stage ID": stage_id,
            "Number of Tasks": count,
            "Submission Time": BEGIN + at,
            "Resource Profile Id": stage_id,
        }
        job = {"Job ID": stage_id, "Submission Time": BEGIN + at, "Stage Infos": [stage], "Stage IDs": [stage_id]}
        events += [event("JobStart", **job), event("StageSubmitted", **{"Stage Info": stage})]
        for wave in range(3):
            for place in range(2 * width):
                begin = at + wave * MINUTE
                one = task("TaskEnd", number, str(place // width), begin, begin + MINUTE)
                one["Task Info"]["Index"] = wave * 2 * width + place
                one["Stage ID"] = stage_id
                events.append(one)
                number += 1
        at += 3 * MINUTE
        events.append(event("StageCompleted", **{"Stage Info": {**stage, "Completion Time": BEGIN + at}}))
        ended = {"Job ID": stage_id, "Completion Time": BEGIN + at, "Job Result": {"Result": "JobSucceeded"}}
        events.append(event("JobEnd", **ended))
    events.append(event("ApplicationEnd", **{"Timestamp": BEGIN + at + 500}))
    return events


SHAPES = {
    "two CPUs": ({"cpus": 2.0}, 4, 8, 0),
    "three CPUs": ({"cpus": 3.0}, 2, 8, 0),
    "all CPUs": ({"cpus": 8.0}, 1, 8, 0),
    "half a GPU": ({"cpus": 1.0, "gpu": 0.5}, 2, 8, 1),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_replay_gives_them_their_slots(diagnose: Any, binary: str, tmp_path: Path, shape: Any) -> None:
    takes, slots, cores, gpus = shape
    log = written(tmp_path / "log", run_of(takes, slots, cores, gpus))
    report = diagnose(log).json
    assert report["replay"]["error_share"] == 0
    assert report["replay"]["worst_job_ms"] == 0
    assert "locality-wait" not in {finding["rule"] for finding in report["findings"]}
    # half of the executors: twice the waves of both stages, and of one less core for each task of profile 1
    run = run_command([binary, "whatif", "--sweep", "executors=1..2", "--format", "json", str(log)])
    waits = 2 * 1000 + 500
    times = [scenario["wall_ms"]["expected"] for scenario in run.json["scenarios"]]
    assert times == [12 * MINUTE + waits, 6 * MINUTE + waits]


def test_the_accounts_have_their_cpus(diagnose: Any, tmp_path: Path) -> None:
    """Tasks of two CPUs hold all cores; the parts add up."""
    report = diagnose(written(tmp_path / "log", run_of({"cpus": 2.0}, 4))).json
    core = report["accounting"]["core"]
    parts = {part["name"]: part["ms"] for part in core["parts"]}
    assert core["total_ms"] == sum(parts.values()) == 2 * 8 * (6 * MINUTE + 2 * 1000)
    idle = sum(value for name, value in parts.items() if name.startswith("idle"))
    assert core["total_ms"] - idle == 2 * 8 * 6 * MINUTE
