"""The jobs that the first rules were written with."""

from __future__ import annotations

from collections.abc import Sequence

from job import (
    FILE_PER_TASK,
    NO_COALESCE,
    SHORT,
    SPARK_4,
    Job,
    is_healthy,
    is_skewed,
    is_straggling,
    long_stage,
)

JOBS: Sequence[Job] = (
    Job(
        "healthy_sql",
        "Six monthly reports: broadcast join and aggregate over 12 files each.",
        is_healthy,
        conf=FILE_PER_TASK,
    ),
    Job(
        "data_skew",
        "Six orders in ten belong to one customer; sort-merge join of two large sides.",
        is_skewed,
        ("data-skew",),
        SHORT
        + (
            "idle-executors",
            "disk-spill",
            "shuffle-heavy",
            "oversized-partition",
            "missed-broadcast-join",
        ),
        conf={
            **NO_COALESCE,
            "spark.sql.shuffle.partitions": "20",
            "spark.sql.autoBroadcastJoinThreshold": "1m",
        },
        repaired="data_skew_repaired",
    ),
    Job(
        "straggler",
        "Partition 9 of 24 waits 24 s, twice; all partitions hold the same amount of data.",
        is_straggling,
        ("straggler",),
        SHORT + ("idle-executors", "repeated-scan", "missing-cache"),
        version=SPARK_4,
        repaired="straggler_repaired",
    ),
    Job(
        "disk_spill",
        "Four partitions of wide rows sorted with a tenth of the usual memory fraction.",
        lambda n: n["disk_spill_bytes"] > 50_000_000,
        ("disk-spill",),
        SHORT
        + (
            "gc-pressure",
            "shuffle-heavy",
            "oversized-partition",
            "too-few-partitions",
            "shuffle-write-slow",
        ),
        conf={"spark.memory.fraction": "0.1"},
        repaired="disk_spill_repaired",
    ),
    Job(
        "gc_pressure",
        "Lists of many small objects; young generation of 3 MB, serial collector.",
        lambda n: n["gc_share"] > 0.15,
        ("gc-pressure",),
        SHORT + ("memory-near-limit", "too-few-partitions", "executor-oom", "disk-spill"),
        master="local-cluster[2,2,512]",
        conf={
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -Xmn3m",
        },
    ),
    Job(
        "task_failures",
        "Every fifth task fails once or twice after two seconds of work; the job succeeds.",
        lambda n: n["task_end_reasons"].get("ExceptionFailure", 0) >= 10 and not n["failed_jobs"],
        ("task-failures",),
        SHORT,
    ),
    Job(
        "executor_lost",
        "The JVM of executor 1 is killed while the reduce side runs.",
        lambda n: n["executors_lost_early"] == 1 and len(n["task_end_reasons"]) > 1,
        ("executor-lost",),
        SHORT + ("stage-retries", "task-failures", "executor-churn"),
        master="local-cluster[3,1,1024]",
    ),
    Job(
        "driver_bound",
        "Six short jobs, each followed by a slow Python loop on the driver.",
        lambda n: n["driver_share"] > 0.4,
        ("driver-bound",),
        SHORT + ("sequential-jobs", "large-result"),
        version=SPARK_4,
        repaired="driver_bound_repaired",
    ),
    Job(
        "idle_executors",
        "A stage of one 45 s task while four executors are held.",
        lambda n: n["slots_busy_share"] < 0.5 and long_stage(n, "tasks") == 1,
        ("idle-executors",),
        SHORT + ("too-few-partitions",),
        master="local-cluster[4,1,512]",
        conf={"spark.executor.memory": "512m"},
    ),
    Job(
        "too_many_partitions",
        "60,000 rows over 2200 shuffle partitions; tasks of a few hundredths of a second.",
        lambda n: n["tasks"] > 2200 and n["median_task_ms"] < 60,
        ("too-many-partitions",),
        SHORT + ("task-overhead", "scheduler-delay", "idle-executors", "aqe-disabled"),
        # the log of this many tasks stays small without peak metrics in each of them
        conf={
            **NO_COALESCE,
            "spark.sql.shuffle.partitions": "2200",
            "spark.executor.metrics.pollingInterval": "0",
            "spark.eventLog.logStageExecutorMetrics": "false",
        },
        repaired="too_many_partitions_repaired",
    ),
    Job(
        "too_few_partitions",
        "A million rows in two partitions on four slots, twice.",
        lambda n: long_stage(n, "tasks") == 2 and long_stage(n, "median_ms") > 10_000,
        ("too-few-partitions",),
        SHORT + ("idle-executors", "oversized-partition", "shuffle-heavy"),
        repaired="too_few_partitions_repaired",
    ),
    Job(
        "small_input_files",
        "1200 Parquet files of 12 KB read four times, 600 CSV files of 16 KB read one per task.",
        lambda n: n["files_read"] >= 4800 and n["tasks"] > 600,
        ("small-input-files",),
        SHORT
        + (
            "too-many-partitions",
            "task-overhead",
            "scheduler-delay",
            "repeated-scan",
            "missing-cache",
            "row-format",
            "driver-bound",
            "slow-read",
            "idle-executors",
        ),
    ),
    Job(
        "resource_wait",
        "Dynamic allocation drops all executors after 2 s and asks for new ones after 15 s.",
        lambda n: n["no_executor_share"] > 0.4,
        ("resource-wait",),
        ("executor-churn", "driver-bound", "idle-executors", "config-risk", "sequential-jobs"),
        conf={
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.enabled": "true",
            "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
            "spark.dynamicAllocation.minExecutors": "0",
            "spark.dynamicAllocation.initialExecutors": "0",
            "spark.dynamicAllocation.maxExecutors": "2",
            "spark.dynamicAllocation.executorIdleTimeout": "2s",
            "spark.dynamicAllocation.schedulerBacklogTimeout": "15s",
            "spark.executor.cores": "2",
        },
    ),
    Job(
        "healthy_rdd",
        "Six rounds of parsing in Python and reducing by key, balanced partitions.",
        is_healthy,
    ),
    Job(
        "healthy_etl",
        "Reads 12 Parquet files and writes 12 well-sized ones, five times. The task metric "
        "`Bytes Read` misses nearly all of it on this version (vectored reads); the SQL metric "
        "`size of files read` tells the truth.",
        is_healthy,
        version=SPARK_4,
        conf=FILE_PER_TASK,
    ),
    Job(
        "healthy_udf",
        "Aggregates six tables; the Python function sees only the few aggregated rows.",
        is_healthy,
        conf=FILE_PER_TASK,
    ),
    Job(
        "healthy_cache",
        "One table cached and asked six times.",
        is_healthy,
        conf=FILE_PER_TASK,
    ),
)
