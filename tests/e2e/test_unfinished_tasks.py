"""Tasks that started and have no end hold their slot until the log, their executor or their stage ends."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from application import read_application
from comparison import differences
from conftest import ROOT, lines_of, run_command
from logfiles import find_logs
from oracle import report as oracle_report

# Small ones: the oracle looks at every pair of tasks of an executor.
LOGS = ["executor_lost", "executor_churn", "stage_retries_lost", "speculation_python", "idle_executors", "data_skew"]
END = b"SparkListenerTaskEnd"
BEGIN = 1_700_000_000_000


def is_end(line: bytes) -> bool:
    return END in line[:60]


def drop_ends(lines: List[bytes], random: random.Random) -> List[bytes]:
    return [line for line in lines if not (is_end(line) and random.random() < 0.1)]


def drop_most_ends(lines: List[bytes], random: random.Random) -> List[bytes]:
    return [line for line in lines if not (is_end(line) and random.random() < 0.7)]


def cut(lines: List[bytes], random: random.Random) -> List[bytes]:
    starts = [number for number, line in enumerate(lines) if b"SparkListenerTaskStart" in line[:60]]
    return lines[: random.choice(starts) + 1]


def drop_anything(lines: List[bytes], random: random.Random) -> List[bytes]:
    return [line for line in lines if b"ApplicationStart" in line[:60] or random.random() < 0.9]


DAMAGES: List[Callable[[List[bytes], random.Random], List[bytes]]] = [drop_ends, drop_most_ends, cut, drop_anything]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", LOGS)
def test_damaged_logs_agree_with_the_oracle(diagnose: Any, tmp_path: Path, name: str, damage: Any) -> None:
    log = tmp_path / "log"
    lines = damage(list(lines_of(ROOT / "corpus" / "logs" / f"{name}.zst")), random.Random(name + damage.__name__))
    log.write_bytes(b"\n".join(lines) + b"\n")
    (found,) = find_logs(log)
    application = read_application(found)
    assert set(application.started) - application.ended_ids, "the damage did not do what it is for"
    wrong = differences(oracle_report(application), diagnose(log).json)
    assert not wrong, "\n".join(wrong[:20])


# ---- a driver that died ---------------------------------------------------------------------------------------------


def event(name: str, **fields: Any) -> Dict[str, Any]:
    return {"Event": f"SparkListener{name}", **fields}


def task(name: str, number: int, executor: str, launch: int, finish: int = 0) -> Dict[str, Any]:
    info = {
        "Task ID": number,
        "Index": number,
        "Attempt": 0,
        "Partition ID": number,
        "Launch Time": BEGIN + launch,
        "Executor ID": executor,
        "Host": f"host{executor}",
        "Locality": "PROCESS_LOCAL",
        "Speculative": False,
        "Getting Result Time": 0,
        "Finish Time": BEGIN + finish if finish else 0,
        "Failed": False,
        "Killed": False,
        "Accumulables": [],
    }
    fields: Dict[str, Any] = {"Stage ID": 0, "Stage Attempt ID": 0}
    if name == "TaskEnd":
        spent = finish - launch
        fields.update(
            {
                "Task Type": "ResultTask",
                "Task End Reason": {"Reason": "Success"},
                "Task Metrics": {"Executor Run Time": spent - 20, "Executor CPU Time": spent * 900_000},
            }
        )
    return event(name, **fields, **{"Task Info": info})


def stage_info() -> Dict[str, Any]:
    return {
        "Stage ID": 0,
        "Stage Attempt ID": 0,
        "Stage Name": "count at Job.scala:1",
        "Number of Tasks": 40,
        "RDD Info": [],
        "Parent IDs": [],
        "Details": "",
        "Submission Time": BEGIN + 1000,
        "Accumulables": [],
    }


def dead_driver(executors: int = 2, cores: int = 4, minutes: int = 10) -> List[Dict[str, Any]]:
    """All slots have a task from the first second on; only one slot's tasks end, one a minute."""
    properties = {
        "spark.app.id": "app-1",
        "spark.executor.cores": str(cores),
        "spark.executor.instances": str(executors),
        "spark.master": "spark://host:7077",
    }
    events = [
        event("LogStart", **{"Spark Version": "3.5.1"}),
        event("EnvironmentUpdate", **{"Spark Properties": properties}),
        event("ApplicationStart", **{"App Name": "dead", "App ID": "app-1", "Timestamp": BEGIN, "User": "u"}),
    ]
    for number in range(executors):
        added = {"Host": f"host{number}", "Total Cores": cores, "Log Urls": {}}
        events.append(
            event("ExecutorAdded", **{"Timestamp": BEGIN + 500, "Executor ID": str(number), "Executor Info": added})
        )
    events.append(
        event("JobStart", **{"Job ID": 0, "Submission Time": BEGIN + 1000, "Stage Infos": [stage_info()], "Stage IDs": [0]})
    )
    events.append(event("StageSubmitted", **{"Stage Info": stage_info()}))
    slots = executors * cores
    events += [task("TaskStart", number, str(number % executors), 1000) for number in range(slots)]
    last = 0
    for minute in range(minutes):
        events.append(task("TaskEnd", last, "0", 1000 + minute * 60_000, 1000 + (minute + 1) * 60_000))
        last = slots + minute
        events.append(task("TaskStart", last, "0", 1000 + (minute + 1) * 60_000))
    return events


def written(path: Path, events: List[Dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in events))
    return path


def parts_of(account: Dict[str, Any]) -> Dict[str, int]:
    return {part["name"]: part["ms"] for part in account["parts"]}


def test_slots_of_a_dead_driver_were_busy(diagnose: Any, tmp_path: Path) -> None:
    report = diagnose(written(tmp_path / "log", dead_driver())).json
    assert [finding["rule"] for finding in report["findings"]] == []
    assert report["config_changes"] == {}
    core = report["accounting"]["core"]
    assert parts_of(core)["idle_no_work"] == 0 and parts_of(core)["compute"] > 0.99 * core["total_ms"]
    assert report["bounds"]["critical_path_ms"] == report["application"]["duration_ms"]
    assert [executor["busy_ms"] for executor in report["executors"]] == [4 * 600_000] * 2
    assert report["replay"]["error_share"] == 0


def test_fewer_executors_are_not_as_fast(binary: str, tmp_path: Path) -> None:

    log = written(tmp_path / "log", dead_driver())
    run = run_command([binary, "whatif", "--sweep", "executors=1..2", "--format", "json", str(log)])
    one, two = (scenario["wall_ms"]["expected"] for scenario in run.json["scenarios"])
    assert one > 1.8 * two


def test_a_later_task_shows_that_its_slot_was_given_back(diagnose: Any, tmp_path: Path) -> None:
    """One slot: task 0 has no end, but task 1 could not have started before it."""
    events = dead_driver(1, 1, 0)
    events += [task("TaskStart", 50, "0", 31_000), task("TaskEnd", 50, "0", 31_000, 61_000)]
    report = diagnose(written(tmp_path / "log", events)).json
    assert report["executors"][0]["busy_ms"] == 60_000
    core = parts_of(report["accounting"]["core"])
    assert core["compute"] == 60_000 - core["scheduler_delay"]


def test_tasks_lost_with_their_executor_have_failed(diagnose: Any, binary: str, tmp_path: Path) -> None:
    events = dead_driver(2, 4, 5)
    events.append(
        event("ExecutorRemoved", **{"Timestamp": BEGIN + 61_000, "Executor ID": "1", "Removed Reason": "lost"})
    )
    log = written(tmp_path / "log", events)
    report = diagnose(log).json
    assert parts_of(report["accounting"]["core"])["failed_tasks"] == 4 * 60_000
    assert {row["id"]: row["busy_ms"] for row in report["executors"]} == {"0": 4 * 300_000, "1": 4 * 60_000}

    statement = "SELECT executor, count(*) AS tasks, max(until_ms) AS until FROM unfinished_tasks GROUP BY 1 ORDER BY 1"
    rows = run_command([binary, "sql", "--format", "json", str(log), statement]).json
    assert rows == [
        {"executor": "0", "tasks": 4, "until": BEGIN + 301_000},
        {"executor": "1", "tasks": 4, "until": BEGIN + 61_000},
    ]


def test_stage_that_completed_runs_no_more(diagnose: Any, tmp_path: Path) -> None:
    events = dead_driver(2, 4, 1)
    completed = {**stage_info(), "Completion Time": BEGIN + 91_000}
    events.append(event("StageCompleted", **{"Stage Info": completed}))
    events.append(event("JobEnd", **{"Job ID": 0, "Completion Time": BEGIN + 91_000, "Job Result": {"Result": "JobSucceeded"}}))
    events.append(event("ApplicationEnd", **{"Timestamp": BEGIN + 600_000}))
    report = diagnose(written(tmp_path / "log", events)).json
    assert sum(executor["busy_ms"] for executor in report["executors"]) == 8 * 90_000
