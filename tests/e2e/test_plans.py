"""Operators in the report against the log's own lines: names, rows, stages; times that add up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
from conftest import corpus_logs, lines_of, run_command, run_on_log
from plans import Plans

FRAMES = ("codegen", "adaptive", "query-stage", "aqe-reader")


@pytest.mark.parametrize("path", corpus_logs())
def test_operators_agree_with_the_log(path: Path) -> None:
    plans = Plans(list(lines_of(path)))
    seen = 0
    for execution in run_on_log(path).json["sql"]:
        if not execution["operators"]:
            continue
        sql = execution["id"]
        nodes = plans.executions[sql].nodes
        times = [operator["time_ms"] for operator in execution["operators"]]
        assert times == sorted(times, reverse=True)
        assert min(times) >= 0
        shown = len(execution["operators"])
        if shown < 30:  # all of them
            assert sum(times) + execution["other_ms"] == execution["task_ms"], sql
            frames = sum(node["nodeName"].startswith(FRAME_NAMES) for node, _ in nodes)
            assert shown == len(nodes) - frames
        assert sum(times) + execution["other_ms"] <= execution["task_ms"]
        for operator in execution["operators"]:
            node, repeated = nodes[operator["node"]]
            assert operator["name"] == node["nodeName"]
            assert operator["class"] not in FRAMES
            if plans.rows(node) is not None:
                assert operator["rows"] == plans.rows(node), (sql, operator)
            if repeated:
                assert operator["stages"] == [] and operator["time_ms"] == 0
            elif plans.stages(sql, node):
                assert sorted(operator["stages"]) == plans.stages(sql, node), (sql, operator)
            seen += 1
    if plans.executions:
        assert seen > 0


FRAME_NAMES = (
    "WholeStageCodegen",
    "InputAdapter",
    "AdaptiveSparkPlan",
    "ShuffleQueryStage",
    "BroadcastQueryStage",
    "TableCacheQueryStage",
    "ResultQueryStage",
    "AQEShuffleRead",
)


@pytest.mark.parametrize("path", corpus_logs(["data_skew", "aqe_off", "disk_spill"]))
def test_metrics_of_single_tasks(binary: str, path: Path) -> None:
    """How many tasks added to a metric, and the least, median and most of it, from the tasks' own lines."""
    added: Dict[int, List[int]] = {}
    for line in lines_of(path):
        if b'"SparkListenerTaskEnd"' not in line:
            continue
        info = json.loads(line)["Task Info"]
        if info["Failed"] or info["Killed"]:
            continue
        for metric in info["Accumulables"]:
            if metric.get("Metadata") == "sql" and int(metric["Update"]) > 0:
                added.setdefault(metric["ID"], []).append(int(metric["Update"]))
    run = run_command([binary, "sql", str(path), "select * from sql_metrics", "--format", "json"])
    assert run.exit == 0, run.explain()
    seen = 0
    for row in run.json:
        values = sorted(added.get(row["accumulator"], []))
        assert row["tasks"] == len(values)
        if not values:
            assert row["task_min"] is row["task_median"] is row["task_max"] is None
            continue
        seen += 1
        assert (row["task_min"], row["task_max"]) == (values[0], values[-1])
        assert row["task_median"] == values[len(values) // 2]
    assert seen > 5
