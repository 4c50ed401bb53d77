"""The command and the oracle agree on every log at hand; the oracle agrees with Spark's own History Server."""

from __future__ import annotations

import calendar
import json
import time
from pathlib import Path
from typing import Any, Dict, List

import logfiles
import oracle
import pytest
from accounts import Accounts, quantile, split_task
from application import Application, read_application
from comparison import differences
from conftest import oracle_reports_of, run_on_log


def read(path: Path) -> Application:
    return read_application(logfiles.find_logs(path)[0])


def has_known_event(report: Dict[str, Any]) -> bool:
    return bool(set(report["integrity"]["events"]) - set(report["integrity"]["unknown_events"]))


# ---- the command against the oracle -----------------------------------------------------------------------------


def test_report_agrees_with_oracle(log_path: Path) -> None:
    expected = [report for report in oracle_reports_of(log_path) if has_known_event(report)]
    run = run_on_log(log_path)
    if not expected:
        assert run.exit == 3, run.explain()
        assert run.err.count(b"\n") == 1, run.explain()
        return
    assert run.exit == 0, run.explain()
    got = run.json
    reports = got["reports"] if got["schema"] == "pyrometer.reports/1" else [got]
    assert len(reports) == len(expected)
    found = [line for want, have in zip(expected, reports) for line in differences(want, have)]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:40])


# ---- the oracle against itself ----------------------------------------------------------------------------------


def test_oracle_parts_add_up(log_path: Path) -> None:
    for report in oracle_reports_of(log_path):
        for account in report["accounting"].values():
            if "parts" in account:
                assert sum(part["ms"] for part in account["parts"]) == account["total_ms"]
                assert all(part["ms"] >= 0 for part in account["parts"])
        assert report["bounds"]["driver_ms"] <= report["accounting"]["wall"]["total_ms"]


# ---- the oracle against the History Server's answers, as Spark's own tests expect them ----------------------------


def expectation(spark_folder: Path, name: str) -> Any:
    path = spark_folder / "HistoryServerExpectations" / f"{name}_expectation.json"
    if not path.is_file():
        pytest.skip(f"{path.name} is not among Spark's test resources")
    return json.loads(path.read_text())


def epoch_ms(stamp: str) -> int:
    seconds = calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S"))
    return seconds * 1000 + int(stamp[20:23])


STAGES = [
    ("stage_list_json", "local-1422981780767"),
    ("stage_list_with_peak_metrics", "app-20200706201101-0003"),
    ("stage_with_speculation_summary", "application_1628109047826_1317105"),
    ("excludeOnFailure_for_stage", "app-20180109111548-0000"),
    ("excludeOnFailure_node_for_stage", "application_1516285256255_0012"),
]
STAGE_SUMS = {
    "executorRunTime": "run_ms",
    "jvmGcTime": "gc_ms",
    "inputBytes": "input_bytes",
    "outputBytes": "output_bytes",
    "shuffleReadBytes": "shuffle_read_bytes",
    "shuffleWriteBytes": "shuffle_write_bytes",
    "memoryBytesSpilled": "memory_spill_bytes",
    "diskBytesSpilled": "disk_spill_bytes",
}


@pytest.mark.parametrize(("name", "log"), STAGES)
def test_stages_as_the_history_server_says(spark_folder: Path, name: str, log: str) -> None:
    answer = expectation(spark_folder, name)
    report = oracle.reports_of(spark_folder / "spark-events" / log)[0]
    rows = {(row["id"], row["attempt"]): row for row in report["stages"]}
    stages: List[Dict[str, Any]] = answer if isinstance(answer, list) else [answer]
    ran = [stage for stage in stages if stage["status"] not in ("SKIPPED", "PENDING")]
    assert ran
    for stage in ran:
        row = rows[(stage["stageId"], stage["attemptId"])]
        assert row["name"] == stage["name"]
        assert row["status"] == {"COMPLETE": "succeeded", "FAILED": "failed", "ACTIVE": "running"}[stage["status"]]
        assert row["submitted_ms"] == epoch_ms(stage["submissionTime"])
        assert row["completed_ms"] == epoch_ms(stage["completionTime"])
        assert row["failed_tasks"] == stage["numFailedTasks"]
        assert row["killed_tasks"] == stage["numKilledTasks"]
        assert row["tasks"] == stage["numCompleteTasks"] + stage["numFailedTasks"] + stage["numKilledTasks"]
        for theirs, ours in STAGE_SUMS.items():
            assert row[ours] == stage[theirs], (stage["stageId"], theirs)
        assert row["cpu_ms"] == stage["executorCpuTime"] // 10**6


@pytest.mark.parametrize(
    ("name", "log"),
    [
        ("executor_list_with_executor_metrics_json", "application_1553914137147_0018"),
        ("executor_memory_usage", "app-20161116163331-0000"),
        ("executor_node_excludeOnFailure_unexcluding", "app-20161115172038-0000"),
        ("executor_resource_information", "application_1555004656427_0144"),
    ],
)
def test_executors_as_the_history_server_says(spark_folder: Path, name: str, log: str) -> None:
    report = oracle.reports_of(spark_folder / "spark-events" / log)[0]
    theirs = {row["id"]: row for row in expectation(spark_folder, name) if row["id"] != "driver"}
    ours = {row["id"]: row for row in report["executors"] if row["id"] != "driver"}
    assert sorted(ours) == sorted(theirs)
    for executor, row in ours.items():
        assert row["cores"] == theirs[executor]["totalCores"]
        assert row["added_ms"] == epoch_ms(theirs[executor]["addTime"])
        assert row["busy_ms"] == theirs[executor]["totalDuration"]
        assert row["gc_ms"] == theirs[executor]["totalGCTime"]
        assert (row["removed_ms"] is None) == theirs[executor]["isActive"]
        if row["removed_ms"] is not None:
            assert row["removed_ms"] == epoch_ms(theirs[executor]["removeTime"])
            assert row["remove_reason"] == theirs[executor]["removeReason"]


@pytest.mark.parametrize(
    ("name", "stage"), [("stage_task_summary_w_shuffle_write", (0, 0)), ("stage_task_summary_w_shuffle_read", (1, 0))]
)
def test_quantiles_as_the_history_server_says(spark_folder: Path, name: str, stage: Any) -> None:
    answer = expectation(spark_folder, name)
    app = read(spark_folder / "spark-events" / "local-1430917381534")
    tasks = [task for task in app.tasks if task.stage == stage and task.succeeded]
    durations = sorted(task.duration for task in tasks)
    delays = sorted(split_task(task)["scheduler_delay"] for task in tasks)
    for at, share in enumerate(answer["quantiles"]):
        percent = round(share * 100)
        assert quantile(durations, percent) == answer["duration"][at]
        assert quantile(delays, percent) == answer["schedulerDelay"][at]
    summary = Accounts(app).durations_of(tasks)
    assert [summary["p25"], summary["median"], summary["p75"], summary["p95"]] == answer["duration"][1:]


def test_jobs_and_applications_as_the_history_server_says(spark_folder: Path) -> None:
    report = oracle.reports_of(spark_folder / "spark-events" / "local-1422981780767")[0]
    jobs = expectation(spark_folder, "job_list_json")
    assert report["totals"]["jobs"] == len(jobs)
    assert report["totals"]["failed_jobs"] == sum(job["status"] == "FAILED" for job in jobs)
    for application in expectation(spark_folder, "application_list_json"):
        for attempt in application["attempts"]:
            name = application["id"] + (f"_{attempt['attemptId']}" if "attemptId" in attempt else "")
            path = spark_folder / "spark-events" / name
            if not path.exists():
                continue
            ours = oracle.reports_of(path)[0]["application"]
            assert ours["id"] == application["id"]
            assert ours["name"] == application["name"]
            assert ours["user"] == attempt["sparkUser"]
            assert ours["attempt"] == attempt.get("attemptId")
            assert ours["start_ms"] == attempt["startTimeEpoch"]
            assert ours["end_ms"] == attempt["endTimeEpoch"]
            assert ours["duration_ms"] == attempt["duration"]
