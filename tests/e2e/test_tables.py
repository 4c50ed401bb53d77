"""`pyrometer sql` over real logs: tables that no report shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from conftest import ROOT, lines_of, run_command

LOGS = ROOT / "tests" / "logs"


@pytest.fixture
def query(binary: str) -> Callable[[Path, str], List[Dict[str, Any]]]:
    def ask(log: Path, statement: str) -> List[Dict[str, Any]]:
        run = run_command([binary, "sql", str(log), statement, "--format", "json"])
        assert run.exit == 0, run.explain()
        return run.json

    return ask


def one(pattern: str) -> Path:
    (path,) = LOGS.glob(pattern)
    return path


def test_connect_operations(query: Callable[[Path, str], List[Dict[str, Any]]]) -> None:
    rows = query(one("versions/spark-4.3.0-connect/eventlog_v2_*"), "select * from operations order by started_ms")
    assert [row["status"] for row in rows] == ["finished", "finished", "failed"]
    assert all(row["user"] == "pyrometer" and row["session"] and row["statement"] for row in rows)
    assert all(row["started_ms"] <= row["analyzed_ms"] <= row["ready_ms"] <= row["ended_ms"] for row in rows)
    assert all(row["closed_ms"] >= row["ended_ms"] for row in rows)
    assert "USER_RAISED_EXCEPTION" in rows[2]["failure"] and rows[0]["failure"] is None
    assert rows[0]["rows_produced"] == 7


def test_streaming_progress(query: Callable[[Path, str], List[Dict[str, Any]]]) -> None:
    rows = query(one("versions/spark-4.3.0-streaming/eventlog_v2_*"), "select * from streams order by batch")
    assert len(rows) == 9
    assert len({row["run"] for row in rows}) == 1
    assert all(row["duration_ms"] > 0 and row["time_ms"] > 1_700_000_000_000 for row in rows)
    assert sum(row["input_rows"] for row in rows) > 0


def test_executor_peaks(query: Callable[[Path, str], List[Dict[str, Any]]]) -> None:
    rows = query(one("versions/spark-4.3.0-executor-metrics/eventlog_v2_*"), "select * from executors order by id")
    assert len(rows) == 2
    assert all(row["heap_peak_bytes"] > 10 << 20 and row["storage_memory_bytes"] > 0 for row in rows)


def test_requests_for_executors(query: Callable[[Path, str], List[Dict[str, Any]]]) -> None:
    """As the events say: since Spark 3.4, with dynamic allocation."""
    log = ROOT / "corpus" / "loop" / "logs" / "blocks_released-before.zst"
    events = [json.loads(line) for line in lines_of(log) if b'"SparkListenerExecutorAdded"' in line[:60]]
    told = {one["Executor ID"]: (one["Executor Info"].get("Request Time"), one["Executor Info"]["Registration Time"]) for one in events}
    rows = query(log, "select id, requested_ms, registered_ms, added_ms from executors")
    assert {row["id"]: (row["requested_ms"], row["registered_ms"]) for row in rows} == told
    assert sum(requested is not None for requested, _ in told.values()) >= 2
    assert all(row["registered_ms"] <= row["added_ms"] for row in rows)


def event(name: str, **members: Any) -> str:
    return json.dumps({"Event": name, **members}, separators=(",", ":")) + "\n"


def block(executor: str, partition: int, memory: int, disk: int = 0) -> str:
    level = {"Use Disk": disk > 0, "Use Memory": memory > 0, "Deserialized": True, "Replication": 1}
    manager = {"Executor ID": executor, "Host": "h", "Port": 1}
    info = {"Block Manager ID": manager, "Block ID": f"rdd_7_{partition}", "Storage Level": level}
    return event(
        "SparkListenerBlockUpdated", **{"Block Updated Info": {**info, "Memory Size": memory, "Disk Size": disk}}
    )


def test_block_updates(query: Callable[[Path, str], List[Dict[str, Any]]], tmp_path: Path) -> None:
    """Peaks are of what exists at once; a block that leaves memory while the RDD is persisted was dropped."""
    log = tmp_path / "log"
    log.write_text(
        event("SparkListenerLogStart", **{"Spark Version": "3.5.6"})
        + event("SparkListenerApplicationStart", **{"App Name": "a", "App ID": "app-1", "Timestamp": 1})
        + block("1", 0, 100)
        + block("1", 1, 50)
        + block("2", 0, 30)
        + block("1", 0, 0, 80)  # to disk: 80 left in memory
        + block("1", 0, 90)  # back: 170
        + event("SparkListenerUnpersistRDD", **{"RDD ID": 7})
        + block("1", 1, 0)
    )
    (row,) = query(log, "select * from rdds")
    assert (row["memory_bytes"], row["disk_bytes"], row["dropped_blocks"]) == (180, 80, 1)
    assert row["unpersisted"] == 1


def test_exclusions_and_processes(query: Callable[[Path, str], List[Dict[str, Any]]], tmp_path: Path) -> None:
    scheduler = "org.apache.spark.scheduler.SparkListener"
    log = tmp_path / "log"
    log.write_text(
        event("SparkListenerApplicationStart", **{"App Name": "a", "App ID": "app-1", "Timestamp": 1})
        + event(scheduler + "ExecutorExcluded", time=5, executorId="1", taskFailures=2)
        + event(scheduler + "ExecutorBlacklisted", time=5, executorId="1", taskFailures=2)
        + event(
            scheduler + "NodeExcludedForStage", time=6, hostId="h", executorFailures=1, stageId=3, stageAttemptId=0
        )
        + event(scheduler + "ExecutorUnexcluded", time=9, executorId="1")
        + event(
            scheduler + "MiscellaneousProcessAdded",
            time=1,
            processId="yarn-am",
            info={"hostPort": "h:1", "cores": 2, "logUrlInfo": {}},
        )
    )
    rows = query(log, "select kind, id, time_ms, until_ms, stage, failures from exclusions")
    assert [tuple(row.values()) for row in rows] == [("executor", "1", 5, 9, None, 2), ("node", "h", 6, None, 3, 1)]
    assert query(log, "select * from processes") == [{"id": "yarn-am", "host_port": "h:1", "cores": 2, "added_ms": 1}]


def test_plans(query: Callable[[Path, str], List[Dict[str, Any]]]) -> None:
    """The tables of plans have their texts, and metrics that were never updated."""
    log = ROOT / "corpus" / "logs" / "data_skew.zst"
    (row,) = query(log, "select count(*) n, sum(detail is not null) details, sum(parent is null) roots from sql_nodes")
    assert row["n"] == row["details"] > 5 and row["roots"] == 1
    (row,) = query(log, "select sum(value is null) unknown, sum(value > 0) known from sql_metrics")
    assert row["unknown"] > 0 and row["known"] > 0
    (row,) = query(log, "select max(value) n from sql_metrics where name = 'shuffle records written'")
    assert row["n"] > 0  # from the stages, where Spark calls it internal
    (row,) = query(log, "select plan from sql")
    assert row["plan"].startswith("== Physical Plan ==")
