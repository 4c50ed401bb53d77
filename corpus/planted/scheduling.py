"""Where, when and how tasks run: slow hosts, shuffles, waiting, overhead, jobs one after the other."""

from __future__ import annotations

from typing import Sequence

from job import NO_COALESCE, SHORT, SPARK_4, Cluster, Job

THREE = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
IDLE = SHORT + ("idle-executors",)
EAGER = {
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.minTaskRuntime": "200ms",
}
LONG_WAIT = {
    "spark.locality.wait": "10s",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.initialExecutors": "1",
    "spark.dynamicAllocation.minExecutors": "1",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "10min",
}
# an in-list of this size would fill the log with plans
SHORT_PLANS = {"spark.sql.maxPlanStringLength": "2000", "spark.sql.maxMetadataStringLength": "100"}

JOBS: Sequence[Job] = (
    Job(
        "slow_host",
        "Four stages of even CPU work on three hosts; one host's executor is stopped 60 % of the time.",
        lambda n: n["slowest_host_ratio"] > 1.6,
        ("slow-host",),
        IDLE + ("straggler", "too-few-partitions"),
        cluster=Cluster(THREE, 1, "127.0.0.3", (90, 60)),
    ),
    Job(
        "oversized_partition",
        "Fourteen million rows of text sorted in six partitions of some 300 MB of shuffle blocks.",
        lambda n: n["longest_stage"]["median_read_bytes"] > 150_000_000 and n["disk_spill_bytes"] > 300_000_000,
        ("oversized-partition",),
        SHORT
        + ("disk-spill", "gc-pressure", "too-few-partitions", "shuffle-heavy", "shuffle-write-slow", "memory-near-limit")
        + ("shuffle-fetch-wait", "slow-read", "straggler", "idle-executors"),
        conf=NO_COALESCE,
    ),
    Job(
        "sequential_jobs",
        "Sixteen jobs of two tasks, one after the other, on four slots.",
        lambda n: n["slots_busy_share"] < 0.7,
        ("sequential-jobs",),
        IDLE + ("too-few-partitions", "driver-bound"),
    ),
    Job(
        "shuffle_fetch_wait",
        "The shuffle service of one of two hosts stands still four fifths of the time.",
        lambda n: n["fetch_wait_share"] > 0.2,
        ("shuffle-fetch-wait",),
        SHORT + ("straggler", "shuffle-heavy", "slow-host", "idle-executors"),
        conf={**NO_COALESCE, "spark.shuffle.service.enabled": "true", "spark.shuffle.readHostLocalDisk": "false"},
        cluster=Cluster(("127.0.0.1",), 4, "shuffle service", (2000, 300)),
    ),
    Job(
        "shuffle_write_slow",
        "spark.shuffle.sync: each map task waits for the disk after each of its 150 files.",
        lambda n: n["shuffle_write_share"] > 0.2,
        ("shuffle-write-slow",),
        SHORT
        + ("too-many-partitions", "shuffle-heavy", "straggler", "shuffle-fetch-wait", "config-risk")
        + ("scheduler-delay", "too-few-partitions"),
        conf={**NO_COALESCE, "spark.shuffle.sync": "true", "spark.sql.shuffle.partitions": "8"},
    ),
    Job(
        "shuffle_heavy",
        "A table of 200,000 rows blown up sixteen times, then shuffled whole four times.",
        lambda n: n["shuffle_write_bytes"] > 20 * n["input_bytes"] > 0,
        ("shuffle-heavy",),
        SHORT + ("row-explosion", "shuffle-write-slow", "shuffle-fetch-wait", "disk-spill", "gc-pressure"),
        conf=NO_COALESCE,
    ),
    Job(
        "speculation_waste",
        "Half of the tasks have three times the work; eager speculation copies them in vain.",
        lambda n: n["lost_speculation_share"] > 0.05,
        ("speculation-waste",),
        IDLE + ("config-risk", "data-skew", "straggler"),
        conf=EAGER,
    ),
    Job(
        "locality_wait",
        "Blocks cached on one of two executors, spark.locality.wait of 10 s.",
        lambda n: n["busiest_executor_share"] > 0.6,
        ("locality-wait",),
        IDLE + ("unused-cache", "driver-bound", "executor-churn", "config-risk", "aqe-disabled"),
        conf=LONG_WAIT,
    ),
    Job(
        "scheduler_delay",
        "The driver is stopped 75 % of the time while 600 short tasks run.",
        lambda n: n["scheduler_delay_share"] > 0.3,
        ("scheduler-delay",),
        SHORT + ("driver-bound", "too-many-partitions", "idle-executors", "straggler", "task-overhead"),
        cluster=Cluster(("127.0.0.1",), 4, "driver", (750, 250)),
    ),
    Job(
        "task_overhead",
        "A filter with a list of 120,000 numbers in every task.",
        lambda n: n["task_overhead_share"] > 0.3,
        ("task-overhead",),
        SHORT + ("driver-bound", "too-many-partitions", "gc-pressure", "scheduler-delay", "sequential-jobs"),
        conf=SHORT_PLANS,
    ),
)
