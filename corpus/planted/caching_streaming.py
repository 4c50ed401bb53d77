"""Caching and Structured Streaming, with their faults and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from job import FILE_PER_TASK, SHORT, SPARK_4, Job, Numbers, is_healthy


def cache(numbers: Numbers, key: str) -> Any:
    """Return a number about caching, 0 when it is unknown."""
    return numbers["cache"][key] or 0


def stream(numbers: Numbers) -> Numbers:
    """Return the numbers of the only stream."""
    return numbers["streams"][0]


def is_over_trigger(numbers: Numbers, trigger_ms: int) -> bool:
    """Batches usually take much longer than their trigger."""
    return stream(numbers)["batches"] >= 6 and stream(numbers)["median_ms"] > 1.3 * trigger_ms


def is_growing(numbers: Numbers) -> bool:
    """State of the last batch is many times that of the second."""
    found = stream(numbers)
    return found["batches"] >= 8 and found["state_rows_last"] > 4 * found["state_rows_first"] > 0


def is_calm_stream(numbers: Numbers) -> bool:
    """Batches within their trigger, state that shrinks again, no row too late."""
    found = stream(numbers)
    return (
        numbers["duration_ms"] > 65_000
        and found["median_ms"] < 0.8 * found["median_gap_ms"]
        and found["rows_dropped"] == 0
        and set(numbers["task_end_reasons"]) <= {"Success", "TaskKilled"}
    )


def is_notebook(numbers: Numbers) -> bool:
    """Long pauses, but short questions over well filled slots."""
    return (
        numbers["duration_ms"] > 65_000
        and numbers["slots_busy_share"] > 0.6
        and set(numbers["task_end_reasons"]) == {"Success"}
    )


FOUR = {"spark.sql.shuffle.partitions": "4"}
TWO = {"spark.sql.shuffle.partitions": "2"}
# what a stream of about a minute honestly brings along: its first batch takes long, its driver waits for triggers
STREAM = SHORT + ("config-risk", "too-many-partitions", "task-overhead")

JOBS: Sequence[Job] = (
    Job(
        "recomputed_steps",
        "Twelve rounds over lines that are parsed again in each of them: an RDD without cache().",
        lambda n: cache(n, "most_computed_rdd") >= 12 and cache(n, "persisted") == 0,
        ("missing-cache",),
        SHORT + ("sequential-jobs", "idle-executors"),
    ),
    Job(
        "recomputed_join",
        "Five questions about one joined and summed table that each of them builds again.",
        lambda n: cache(n, "most_computed_join") >= 5 and cache(n, "persisted") == 0,
        ("missing-cache",),
        SHORT + ("repeated-scan", "sequential-jobs", "shuffle-heavy", "full-scan", "driver-bound", "too-few-partitions"),
        version=SPARK_4,
        conf={**FILE_PER_TASK, **FOUR},
    ),
    Job(
        "recomputed_features",
        "Records parsed from lines and asked four things, each time from the lines on.",
        lambda n: cache(n, "most_computed_rdd") >= 4 and cache(n, "persisted") == 0,
        ("missing-cache",),
        SHORT + ("sequential-jobs", "idle-executors"),
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "recomputed_report",
        "A cleaned table written four times in different orders, cleaned again for each.",
        lambda n: cache(n, "most_computed_join") >= 3 and cache(n, "persisted") == 0,
        ("missing-cache",),
        SHORT + ("repeated-scan", "sequential-jobs", "shuffle-heavy", "full-scan", "slow-write", "small-output-files"),
        conf={**FILE_PER_TASK, **FOUR},
        split="held-out",
    ),
    Job(
        "cached_tables",
        "CACHE TABLE for three tables, reports over one of them.",
        lambda n: cache(n, "persisted") == 3 and cache(n, "persisted_used_once") == 2,
        ("unused-cache",),
        SHORT + ("memory-near-limit", "sequential-jobs", "full-scan"),
        conf={**FILE_PER_TASK, **FOUR},
    ),
    Job(
        "cached_steps",
        "Each of three steps persists its table and counts it; what follows starts from the files again.",
        lambda n: cache(n, "persisted") == 3 and cache(n, "persisted_used_once") == 3,
        ("unused-cache",),
        SHORT + ("memory-near-limit", "sequential-jobs", "full-scan", "repeated-scan", "small-output-files", "slow-write"),
        master="local-cluster[2,2,1536]",
        version=SPARK_4,
        conf={**FILE_PER_TASK, **FOUR, "spark.executor.memory": "1536m"},
        split="held-out",
    ),
    Job(
        "evicted_rdd",
        "An RDD cached in memory only, twice as large as the memory for it, read six times.",
        lambda n: cache(n, "cache_missed_share") > 0.2,
        ("cache-eviction",),
        SHORT + ("memory-near-limit", "gc-pressure", "missing-cache", "idle-executors", "straggler", "oversized-partition", "sequential-jobs"),
        master="local-cluster[2,2,512]",
        conf={"spark.executor.memory": "512m"},
    ),
    Job(
        "evicted_table",
        "A table persisted with MEMORY_ONLY that does not fit, asked six times; what fits fills the heap.",
        lambda n: cache(n, "cache_missed_share") > 0.2
        and n["executor_heap_peak_bytes"] > 0.9 * 640 * 1024**2
        and n["full_collections"] >= 10
        and not n["heap_exhausted"],
        ("cache-eviction", "memory-near-limit"),
        SHORT + ("gc-pressure", "missing-cache", "idle-executors", "straggler", "sequential-jobs", "full-scan"),
        master="local-cluster[2,2,640]",
        version=SPARK_4,
        conf={**FILE_PER_TASK, **FOUR, "spark.executor.memory": "640m"},
        split="held-out",
    ),
    Job(
        "stream_overrun",
        "A trigger of two seconds, rows that need nearly as long as they take to come.",
        lambda n: is_over_trigger(n, 2000),
        ("batch-overrun",),
        STREAM,
        master="local[2]",
        conf=TWO,
    ),
    Job(
        "stream_slow_sink",
        "A trigger of three seconds; the driver sends each batch on for more than five.",
        lambda n: is_over_trigger(n, 3000),
        ("batch-overrun",),
        STREAM + ("driver-bound",),
        master="local[2]",
        version=SPARK_4,
        conf=TWO,
        split="held-out",
    ),
    Job(
        "stream_state_growth",
        "Counts for each key that ever came, without a watermark.",
        is_growing,
        ("state-growth",),
        STREAM + ("batch-overrun",),
        master="local[2]",
        conf=TWO,
    ),
    Job(
        "stream_dedup",
        "Duplicates dropped by id, without a watermark.",
        is_growing,
        ("state-growth",),
        STREAM + ("batch-overrun",),
        master="local[2]",
        version=SPARK_4,
        conf=TWO,
        split="held-out",
    ),
    Job(
        "stream_late_rows",
        "One row in five is two minutes late, the watermark waits for three seconds.",
        lambda n: stream(n)["rows_dropped"] > 1000,
        ("watermark-lag",),
        STREAM + ("batch-overrun",),
        master="local[2]",
        conf=TWO,
    ),
    Job(
        "stream_stuck_watermark",
        "A union of two sources, the event time of one stands still: the watermark of both does.",
        # that of the start, and the one that stays
        lambda n: stream(n)["watermarks"] <= 2 and is_growing(n),
        ("watermark-lag",),
        STREAM + ("batch-overrun", "state-growth"),
        master="local[2]",
        version=SPARK_4,
        conf=TWO,
        split="held-out",
    ),
    Job(
        "healthy_stream_windows",
        "Windows of ten seconds with a watermark, written as files.",
        is_calm_stream,
        master="local[2]",
        conf=TWO,
    ),
    Job(
        "healthy_window",
        "Window functions over small and even partitions.",
        is_healthy,
        master="local[2]",
        version=SPARK_4,
        conf={**FILE_PER_TASK, "spark.sql.shuffle.partitions": "8"},
        split="held-out",
    ),
    Job(
        "healthy_kmeans",
        "MLlib: features of four months cached, k-means of three rounds each.",
        is_healthy,
        master="local[2]",
        packages=("numpy==1.26.4",),
        conf={**FILE_PER_TASK, **FOUR},
        split="held-out",
    ),
    Job(
        "healthy_bucketed",
        "Two bucketed tables joined without an exchange.",
        is_healthy,
        conf={**FILE_PER_TASK, **FOUR},
        split="held-out",
    ),
    Job(
        "healthy_threads",
        "Twenty-four small reports from four threads at a time.",
        is_healthy,
        version=SPARK_4,
        conf={**FILE_PER_TASK, **FOUR},
        split="held-out",
    ),
    Job(
        "healthy_notebook",
        "A session in which somebody asks, thinks and asks again.",
        is_notebook,
        master="local[2]",
        version=SPARK_4,
        conf={**FILE_PER_TASK, **FOUR},
        split="held-out",
    ),
)
