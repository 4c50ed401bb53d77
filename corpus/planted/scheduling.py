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
TWO = Cluster(cores=4)  # a copy of a task never starts on the host of the first attempt
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
        + ("shuffle-fetch-wait", "slow-read", "straggler", "idle-executors")
        # the sorted rows are asked twice, joining partitions is off, and 200 tasks read 41 bytes each: all true
        + ("missing-cache", "aqe-disabled", "too-many-partitions"),
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
        "The shuffle service of a host with two executors stands still four fifths of the time.",
        lambda n: n["fetch_wait_share"] > 0.2,
        ("shuffle-fetch-wait",),
        SHORT + ("straggler", "shuffle-heavy", "slow-host", "idle-executors"),
        conf={
            **NO_COALESCE,
            "spark.shuffle.service.enabled": "true",
            "spark.shuffle.readHostLocalDisk": "false",
            "spark.executor.cores": "2",
        },
        cluster=Cluster(("127.0.0.1",), 4, "shuffle service", (2000, 300)),
    ),
    Job(
        "shuffle_write_slow",
        "spark.shuffle.sync: each map task waits for the disk after each of its 150 files.",
        lambda n: n["shuffle_write_share"] > 0.2,
        ("shuffle-write-slow",),
        SHORT
        + ("too-many-partitions", "shuffle-heavy", "straggler", "shuffle-fetch-wait", "config-risk")
        + ("scheduler-delay", "too-few-partitions", "aqe-disabled"),
        conf={**NO_COALESCE, "spark.shuffle.sync": "true"},
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
        "Half of the tasks have four times the work; eager speculation copies them in vain.",
        lambda n: n["lost_speculation_share"] > 0.05,
        ("speculation-waste",),
        IDLE + ("config-risk", "data-skew", "straggler"),
        cluster=TWO,
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
        SHORT + ("driver-bound", "too-many-partitions", "gc-pressure", "scheduler-delay", "sequential-jobs")
        + ("missing-cache",),  # three times the same question: true
        conf=SHORT_PLANS,
    ),
    Job(
        "slow_host_python",
        "Python tasks and seven shuffles on four hosts; all of one host's processes are stopped two thirds of the time.",
        lambda n: n["slowest_host_ratio"] > 1.6,
        ("slow-host",),
        IDLE + ("straggler", "too-few-partitions", "scheduler-delay", "shuffle-fetch-wait"),
        version=SPARK_4,
        cluster=Cluster((*THREE, "127.0.0.4"), 1, "127.0.0.2", (100, 50)),
        split="held-out",
    ),
    Job(
        "oversized_window",
        "A window over eight groups of some 200 MB of shuffle blocks each.",
        lambda n: n["longest_stage"]["median_read_bytes"] > 210_000_000 and n["disk_spill_bytes"] > 300_000_000,
        ("oversized-partition",),
        SHORT
        + ("disk-spill", "gc-pressure", "too-few-partitions", "shuffle-heavy", "shuffle-write-slow", "memory-near-limit")
        + ("shuffle-fetch-wait", "straggler", "idle-executors", "data-skew", "executor-oom"),
        version=SPARK_4,
        conf={**NO_COALESCE, "spark.sql.shuffle.partitions": "4"},
        split="held-out",
    ),
    Job(
        "sequential_writes",
        "Fourteen tables of three tasks each, written one after the other on six slots.",
        lambda n: n["slots_busy_share"] < 0.7,
        ("sequential-jobs",),
        IDLE + ("too-few-partitions", "driver-bound", "small-output-files", "missing-cache"),
        master="local-cluster[3,2,512]",
        conf={"spark.executor.memory": "512m"},
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "fetch_small_blocks",
        "Shuffles of 250 x 48 blocks of a kilobyte or so, fetched one request at a time.",
        lambda n: n["fetch_wait_share"] > 0.2,
        ("shuffle-fetch-wait",),
        SHORT + ("too-many-partitions", "shuffle-heavy", "scheduler-delay", "straggler", "config-risk"),
        version=SPARK_4,
        conf={
            **NO_COALESCE,
            "spark.reducer.maxReqsInFlight": "1",
            "spark.reducer.maxBlocksInFlightPerAddress": "1",
            "spark.shuffle.readHostLocalDisk": "false",  # both executors are on one host
        },
        split="held-out",
    ),
    Job(
        "shuffle_write_rdd",
        "spark.shuffle.sync under Python pairs that are partitioned into 120 files a task.",
        lambda n: n["shuffle_write_share"] > 0.2,
        ("shuffle-write-slow",),
        SHORT + ("too-many-partitions", "shuffle-heavy", "straggler", "shuffle-fetch-wait", "config-risk", "scheduler-delay"),
        version=SPARK_4,
        conf={"spark.shuffle.sync": "true"},
        split="held-out",
    ),
    Job(
        "shuffle_group_rdd",
        "Thirty thousand lines become 1.8 million pairs, all sent through groupByKey.",
        lambda n: n["shuffle_write_bytes"] > 20 * n["input_bytes"] > 0,
        (),
        SHORT + ("row-explosion", "python-udf", "disk-spill", "gc-pressure", "shuffle-write-slow", "oversized-partition"),
        version=SPARK_4,
        split="held-out",
        noted=("shuffle-heavy",),  # 40 MB cost no second of wall time
        healthy=False,
    ),
    Job(
        "speculation_python",
        "Every third Python task has four times as much to do; eager speculation copies them in vain.",
        lambda n: n["lost_speculation_share"] > 0.05,
        ("speculation-waste",),
        IDLE + ("config-risk", "data-skew", "straggler"),
        version=SPARK_4,
        cluster=TWO,
        conf=EAGER,
        split="held-out",
    ),
    Job(
        "locality_hosts",
        "Python pairs cached on the first of two executors, five passes over them.",
        lambda n: n["busiest_executor_share"] > 0.6,
        ("locality-wait",),
        IDLE + ("driver-bound", "executor-churn", "config-risk"),
        version=SPARK_4,
        conf={**LONG_WAIT, "spark.locality.wait": "6s"},
        split="held-out",
    ),
    Job(
        "task_data",
        "Tasks that carry 11 MB of the driver's data each, three times.",
        lambda n: n["scheduler_delay_share"] > 0.3,
        ("scheduler-delay",),
        SHORT + ("driver-bound", "task-overhead", "driver-memory", "gc-pressure", "straggler", "idle-executors"),
        version=SPARK_4,
        conf={"spark.driver.memory": "3g"},
        split="held-out",
    ),
    Job(
        "overhead_map",
        "A look-up table of 120,000 entries as a literal of the query.",
        lambda n: n["task_overhead_share"] > 0.3,
        ("task-overhead",),
        SHORT + ("driver-bound", "too-many-partitions", "gc-pressure", "scheduler-delay", "sequential-jobs"),
        version=SPARK_4,
        conf=SHORT_PLANS,
        split="held-out",
    ),
)
