"""Jobs recorded after the rules were written, to find out how good the rules are on runs that they were not tuned to.

docs/accuracy.md has the figures. Labels follow the same conditions as those of the development split.
"""

from __future__ import annotations

from typing import Any

from job import (
    FILE_PER_TASK,
    NO_COALESCE,
    SHORT,
    SPARK_4,
    Job,
    Numbers,
    is_healthy,
    is_skewed,
    is_straggling,
    long_stage,
)


def held_out(name: str, notes: str, shows: Any, *labels: tuple[str, ...], **more: Any) -> Job:
    """Return a job of the held-out split."""
    return Job(name, notes, shows, *labels, split="held-out", **more)


def is_streaming_well(numbers: Numbers) -> bool:
    """Many small batches, nothing spilled; stopping a query cancels the batch that runs, which is not a fault."""
    return (
        numbers["duration_ms"] > 65_000
        and numbers["tasks"] > 40
        and numbers["disk_spill_bytes"] == 0
        and set(numbers["task_end_reasons"]) <= {"Success", "TaskKilled"}
    )


JOBS = (
    held_out(
        "skew_rdd",
        "RDD API in Python: half of all records have one key, groupByKey over 12 partitions.",
        is_skewed,
        ("data-skew",),
        SHORT + ("idle-executors", "disk-spill", "shuffle-heavy", "oversized-partition"),
    ),
    held_out(
        "skew_files",
        "Twelve gzipped CSV files, one eleven times as large as each other one.",
        is_skewed,
        ("data-skew",),
        ("unsplittable-input", "row-format", "idle-executors", "driver-bound"),  # 12 s of 34 before the first job
        master="local[4]",
        version=SPARK_4,
        conf={"spark.sql.files.openCostInBytes": "128m"},
    ),
    held_out(
        "straggler_early",
        "The first stage: one of 18 Python tasks waits on a service 16 times as long as its peers.",
        is_straggling,
        ("straggler",),
        SHORT + ("idle-executors",),
        master="local-cluster[3,1,1024]",
    ),
    held_out(
        "spill_window",
        "Window functions over four groups of wide rows in one JVM of 600 MB.",
        lambda n: n["disk_spill_bytes"] > 50_000_000,
        ("disk-spill",),
        (
            "gc-pressure",
            "shuffle-heavy",
            "oversized-partition",
            "too-few-partitions",
            "shuffle-write-slow",
            "memory-near-limit",
            "data-skew",
        ),
        master="local[2]",
        conf={"spark.driver.memory": "600m", "spark.memory.fraction": "0.3"},
    ),
    held_out(
        "gc_cache",
        "Two million rows cached as Java objects in a small heap; queries beside them.",
        lambda n: n["gc_share"] > 0.15,
        ("gc-pressure",),
        SHORT
        + (
            "memory-near-limit",
            "executor-oom",
            "disk-spill",
            "cache-eviction",
            "missing-cache",
            "config-risk",  # memory for all but cached rows is set very low
        ),
        version=SPARK_4,
        conf={
            "spark.executor.memory": "540m",
            "spark.memory.fraction": "0.95",
            "spark.memory.storageFraction": "0.9",
            "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -Xmn6m",
        },
    ),
    held_out(
        "failures_memory",
        "Three of 20 Python tasks raise MemoryError three times each after 3 s, in two jobs.",
        lambda n: n["task_end_reasons"].get("ExceptionFailure", 0) == 18 and not n["failed_jobs"],
        ("task-failures",),
        SHORT + ("idle-executors",),
        version=SPARK_4,
    ),
    held_out(
        "executors_terminated",
        "Two of three executors get SIGTERM from inside a task, at two times of the map stage.",
        lambda n: n["executors_lost_early"] == 2 and len(n["task_end_reasons"]) > 1,
        ("executor-lost",),
        SHORT + ("stage-retries", "task-failures", "executor-churn", "idle-executors"),
        master="local-cluster[3,1,1024]",
        version=SPARK_4,
    ),
    held_out(
        "driver_plans",
        "420 columns added in a loop, three times: the driver analyses plans.",
        lambda n: n["driver_share"] > 0.3,
        ("driver-bound",),
        SHORT + ("sequential-jobs",),
    ),
    held_out(
        "idle_narrow",
        "Five executors of one core, stages of two tasks.",
        lambda n: n["slots_busy_share"] < 0.5,
        ("idle-executors",),
        SHORT + ("too-few-partitions", "repeated-scan", "missing-cache", "sequential-jobs"),
        master="local-cluster[5,1,512]",
        conf={"spark.executor.memory": "512m"},
    ),
    held_out(
        "many_slices",
        "60,000 numbers in 2400 slices, Python tasks of well under a tenth of a second, one JVM.",
        lambda n: n["tasks"] > 2200 and n["median_task_ms"] < 100,
        ("too-many-partitions",),
        ("task-overhead", "scheduler-delay", "idle-executors"),
        master="local[2]",
        version=SPARK_4,
        conf={
            "spark.executor.metrics.pollingInterval": "0",
            "spark.eventLog.logStageExecutorMetrics": "false",
        },
    ),
    held_out(
        "single_writer",
        "coalesce(1) before each write: all work in one task of four slots.",
        lambda n: long_stage(n, "tasks") == 1 and long_stage(n, "median_ms") > 10_000,
        ("too-few-partitions",),
        SHORT + ("idle-executors", "oversized-partition", "repeated-scan", "missing-cache"),
        version=SPARK_4,
    ),
    held_out(
        "tiny_json",
        "3000 JSON files of 400 bytes, read for their schema and for the sums, twice.",
        lambda n: n["files_read"] >= 3000,
        ("small-input-files",),
        (
            "too-many-partitions",
            "task-overhead",
            "repeated-scan",
            "missing-cache",
            "row-format",
            "driver-bound",
            "slow-read",
        ),
        master="local[2]",
    ),
    held_out(
        "slow_ramp",
        "Dynamic allocation from one executor to four, 25 s for each step; 48 tasks wait from the start.",
        lambda n: n["executors_added"] >= 2 and n["no_executor_share"] < 0.4,
        ("resource-wait",),
        ("executor-churn", "config-risk", "too-few-partitions"),
        master="local-cluster[4,1,1024]",
        conf={
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.enabled": "true",
            "spark.dynamicAllocation.minExecutors": "1",
            "spark.dynamicAllocation.initialExecutors": "1",
            "spark.dynamicAllocation.maxExecutors": "4",
            "spark.dynamicAllocation.schedulerBacklogTimeout": "25s",
            "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout": "25s",
        },
    ),
    held_out(
        "healthy_iterative",
        "Gradient descent on a cached RDD: 24 jobs of 8 Python tasks.",
        is_healthy,
    ),
    held_out(
        "healthy_star",
        "Facts joined with three broadcast tables and written, adaptive execution off.",
        is_healthy,
        version=SPARK_4,
        conf={
            **FILE_PER_TASK,
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.shuffle.partitions": "4",
        },
    ),
    held_out(
        "healthy_wide",
        "Aggregates of three groupings joined and ranked again: many stages of one report.",
        is_healthy,
        master="local-cluster[3,1,1024]",
        conf={**FILE_PER_TASK, **NO_COALESCE, "spark.sql.shuffle.partitions": "12"},
    ),
    held_out(
        "healthy_reuse",
        "A cached join asked sixteen times in one JVM.",
        is_healthy,
        master="local[2]",
        conf={**FILE_PER_TASK, "spark.sql.shuffle.partitions": "4"},
    ),
    held_out(
        "healthy_stream",
        "Structured Streaming: a batch every four seconds, done before the next.",
        is_streaming_well,
        master="local[2]",
        version=SPARK_4,
        conf={"spark.sql.shuffle.partitions": "4"},
    ),
)
