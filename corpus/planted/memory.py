"""Memory, the driver, failures and executors that come and go."""

from __future__ import annotations

from collections.abc import Sequence

from job import NO_COALESCE, SHORT, SPARK_4, Job, Numbers

ONE_CORE = "local-cluster[2,1,512]"
SMALL = {"spark.executor.memory": "512m"}
# what dying executors bring along
DEATHS = (
    "executor-lost",
    "task-failures",
    "stage-retries",
    "executor-churn",
    "idle-executors",
    "straggler",
    "data-skew",
)
GIVEN_BACK = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
    "spark.dynamicAllocation.minExecutors": "0",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.dynamicAllocation.executorIdleTimeout": "3s",
    "spark.dynamicAllocation.cachedExecutorIdleTimeout": "4s",
}


def is_out_of_heap(numbers: Numbers) -> bool:
    """Tasks failed for lack of heap, and executors with them."""
    return numbers["heap_exhausted"] >= 2 and numbers["executors_lost_early"] >= 1


def comes_and_goes(numbers: Numbers) -> bool:
    """Most executors that came were taken away by the driver, while work was still to come."""
    return numbers["executors_given_back"] >= 4 and numbers["executors_added"] >= 5


JOBS: Sequence[Job] = (
    Job(
        "oom_blob",
        "Two of 14 Python tasks hand 600 MB at once to a JVM of 512 MB; their retries do not.",
        lambda n: is_out_of_heap(n) and not n["failed_jobs"],
        ("executor-oom",),
        SHORT + DEATHS,
        master=ONE_CORE,
        conf=SMALL,
    ),
    Job(
        "driver_collect",
        "Four times 130 MB of rows collected by a driver of 512 MB.",
        lambda n: n["driver_heap_peak_bytes"] > 0.85 * 512 * 1024**2
        and n["result_bytes"] > 200_000_000,
        ("driver-memory", "large-result"),
        SHORT + ("driver-bound", "idle-executors", "sequential-jobs"),
        master="local-cluster[2,1,1024]",
        conf={"spark.driver.memory": "512m", "spark.executor.heartbeatInterval": "1s"},
    ),
    Job(
        "job_failed_udf",
        "float('on') in a Python function fails the third of three jobs, and the application.",
        lambda n: n["failed_jobs"] == 1 and n["task_end_reasons"].get("ExceptionFailure", 0) == 4,
        ("job-failed", "task-failures"),
        SHORT + ("python-udf", "idle-executors", "sequential-jobs"),
        master="local-cluster[2,1,1024]",
        fails=True,
    ),
    Job(
        "stage_retries",
        "Shuffle files of an executor are deleted while the reduce side reads them, in both queries.",
        lambda n: n["stage_attempts_more"] >= 2 and n["executors_lost_early"] == 0,
        ("stage-retries",),
        SHORT + ("idle-executors", "task-failures", "repeated-scan", "missing-cache"),
        conf={"spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "1s"},
    ),
    Job(
        "executor_churn",
        "Five bursts of work; executors are given back after 3 s of rest and started again.",
        comes_and_goes,
        ("executor-churn",),
        SHORT + ("driver-bound", "idle-executors", "sequential-jobs", "config-risk"),
        master="local-cluster[2,1,1024]",
        conf=GIVEN_BACK,
    ),
    Job(
        "config_risk",
        "No second try for tasks, 60 s to be heard of with heartbeats every 45 s, a misspelt name; "
        "heaps of 4 GB of which hardly anything is used.",
        lambda n: set(n["task_end_reasons"]) == {"Success"}
        and n["executor_heap_peak_bytes"] < 0.3 * 4 * 1024**3,
        ("config-risk",),
        SHORT,
        noted=("memory-overprovisioned",),
        master="local-cluster[2,2,4096]",
        conf={
            "spark.executor.memory": "4g",
            "spark.task.maxFailures": "1",
            "spark.network.timeout": "60s",
            "spark.executor.heartbeatInterval": "45s",
            "spark.executor.memoryoverhead": "1g",
        },
    ),
    Job(
        "near_limit_lists",
        "Lists of a million pages of 1 KB live in two heaps of 512 MB that just hold them.",
        lambda n: n["executor_heap_peak_bytes"] > 0.9 * 512 * 1024**2
        and n["full_collections"] >= 10
        and not n["heap_exhausted"],
        ("memory-near-limit",),
        SHORT + ("gc-pressure", "disk-spill", "too-few-partitions", "oversized-partition"),
        master=ONE_CORE,
        conf={**SMALL, **NO_COALESCE, "spark.sql.shuffle.partitions": "4"},
    ),
    Job(
        "oom_groups",
        "1.5 million texts of one key collected into a list, in heaps of 512 MB: all attempts fail.",
        lambda n: is_out_of_heap(n) and n["failed_jobs"] >= 1,
        ("executor-oom", "job-failed"),
        SHORT + DEATHS + ("gc-pressure", "memory-near-limit", "disk-spill", "repeated-scan")
        + ("missing-cache", "too-few-partitions", "oversized-partition"),
        master=ONE_CORE,
        conf=SMALL,
        version=SPARK_4,
        split="held-out",
        fails=True,
    ),
    Job(
        "near_limit_cache",
        "Java objects fill storage memory, and lists what is left of a heap of 600 MB.",
        lambda n: n["executor_heap_peak_bytes"] > 0.9 * 600 * 1024**2
        and n["full_collections"] >= 10
        and not n["heap_exhausted"],
        ("memory-near-limit",),
        SHORT + ("gc-pressure", "disk-spill", "cache-eviction", "missing-cache", "config-risk"),
        master="local-cluster[2,1,600]",
        conf={
            "spark.executor.memory": "600m",
            "spark.memory.fraction": "0.9",
            "spark.memory.storageFraction": "0.9",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
        },
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "driver_oom",
        "Rows of 1 GB, a few MB on the wire, collected by a driver of 600 MB.",
        lambda n: n["driver_out_of_memory"] >= 1,
        ("driver-memory",),
        SHORT + ("large-result", "job-failed", "driver-bound", "idle-executors", "task-failures"),
        master="local-cluster[2,1,1024]",
        conf={"spark.driver.memory": "600m", "spark.executor.heartbeatInterval": "1s"},
        version=SPARK_4,
        split="held-out",
        fails=True,
    ),
    Job(
        "result_limit",
        "A collected table of 40 MB is larger than spark.driver.maxResultSize.",
        lambda n: n["results_refused"] >= 1 and n["failed_jobs"] == 1,
        ("large-result", "job-failed"),
        SHORT + ("driver-bound", "idle-executors", "task-failures", "sequential-jobs"),
        master="local-cluster[2,1,1024]",
        conf={"spark.driver.maxResultSize": "32m"},
        version=SPARK_4,
        split="held-out",
        fails=True,
    ),
    Job(
        "stage_retries_lost",
        "Executors are killed while the reduce side runs; map and reduce run again.",
        lambda n: n["stage_attempts_more"] >= 2 and n["executors_lost_early"] >= 1,
        ("stage-retries", "executor-lost"),
        SHORT + ("task-failures", "executor-churn", "idle-executors", "straggler", "executor-oom"),
        master="local-cluster[3,1,1024]",
        conf={**NO_COALESCE, "spark.sql.shuffle.partitions": "20"},
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "job_failed_cast",
        "A text that is no number, cast in ANSI mode: four attempts, then the application ends.",
        lambda n: n["failed_jobs"] == 1 and n["task_end_reasons"].get("ExceptionFailure", 0) >= 4,
        ("job-failed", "task-failures"),
        SHORT + ("idle-executors", "repeated-scan", "missing-cache", "too-few-partitions"),
        version=SPARK_4,
        split="held-out",
        fails=True,
    ),
    Job(
        "executor_churn_cache",
        "A cached table whose executors, and blocks, are given back between queries.",
        comes_and_goes,
        ("executor-churn",),
        SHORT
        + ("driver-bound", "idle-executors", "sequential-jobs", "config-risk")
        + ("missing-cache", "cache-eviction", "unused-cache", "repeated-scan"),
        master="local-cluster[2,1,1024]",
        conf=GIVEN_BACK,
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "config_risk_write",
        "Speculation with the committer of version 2, which publishes files of every attempt; "
        "heaps of 3 GB of which hardly anything is used.",
        lambda n: n["output_bytes"] > 1_000_000
        and n["executor_heap_peak_bytes"] < 0.35 * 3 * 1024**3,
        ("config-risk",),
        SHORT + ("speculation-waste", "small-output-files", "slow-write"),
        noted=("memory-overprovisioned",),
        master="local-cluster[2,2,3072]",
        conf={
            "spark.executor.memory": "3g",
            "spark.speculation": "true",
            "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
        },
        version=SPARK_4,
        split="held-out",
    ),
)
