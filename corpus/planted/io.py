"""Jobs about files, formats, Python functions and windows over everything."""

from __future__ import annotations

from collections.abc import Sequence

from job import FILE_PER_TASK, SHORT, SPARK_4, Job, long_stage


def store(**settings: str) -> dict[str, str]:
    """Return settings of a job that uses the slow store of jobs/SlowStore.java."""
    given = {f"spark.hadoop.fs.store.{k.replace('_', '.')}": v for k, v in settings.items()}
    return {"spark.jars": "store.jar", "spark.hadoop.fs.store.impl": "SlowStore", **given}


# what scanning in Python or one task alone may bring along
ALONE = ("idle-executors", "too-few-partitions", "oversized-partition")
AGAIN = ("repeated-scan", "missing-cache")

JOBS: Sequence[Job] = (
    Job(
        "partition_explosion",
        "partitionBy over 75 days from each of 12 tasks, twice: 1800 files of 100 KB.",
        lambda n: n["files_written"] >= 1500 and n["output_bytes"] / n["files_written"] < 200_000,
        ("small-output-files",),
        SHORT + ("slow-write", "driver-bound"),
        conf=FILE_PER_TASK,
    ),
    Job(
        "many_text_parts",
        "500 JSON files and 700 text files of a few kilobytes, from as many small tasks.",
        lambda n: n["files_written"] >= 500 and n["output_bytes"] / n["files_written"] < 100_000,
        ("small-output-files",),
        SHORT
        + (
            "too-many-partitions",
            "task-overhead",
            "scheduler-delay",
            "python-udf",
            "row-format",
            "slow-write",
            "idle-executors",
            "driver-bound",
            *AGAIN,
        ),
        version=SPARK_4,
        conf={**FILE_PER_TASK, "spark.executor.metrics.pollingInterval": "0"},
        split="held-out",
    ),
    Job(
        "slow_commit",
        "Output to a store that copies on rename, 12 MB/s: the driver commits for longer than the tasks write.",
        lambda n: n["job_commit_ms"] > 0.2 * n["duration_ms"],
        ("slow-write",),
        SHORT + ("driver-bound", "idle-executors"),
        version=SPARK_4,
        conf={**FILE_PER_TASK, **store(latency_ms="40", write_kbps="12000")},
    ),
    Job(
        "slow_store_write",
        "CSV written to a store that takes 700 KB a second from each task.",
        lambda n: n["cpu_share"] < 0.3 and n["output_bytes"] / n["run_ms"] < 1000,
        ("slow-write",),
        SHORT + ("driver-bound", "row-format", "idle-executors"),
        conf={**FILE_PER_TASK, **store(latency_ms="5", write_kbps="700")},
        split="held-out",
    ),
    Job(
        "slow_store_read",
        "Two Parquet tables from a store that gives 1.5 MB a second to each task, one from the disk.",
        lambda n: n["cpu_share"] < 0.35 and n["slots_busy_share"] > 0.5,
        ("slow-read",),
        SHORT,
        conf={**FILE_PER_TASK, **store(latency_ms="30", read_kbps="1500")},
    ),
    Job(
        "throttled_logs",
        "Text files from a store that gives 1.2 MB a second to each task, read twice.",
        lambda n: n["cpu_share"] < 0.35 and n["input_bytes"] / n["run_ms"] < 1500,
        ("slow-read",),
        SHORT + ("row-format", *AGAIN),
        version=SPARK_4,
        conf=store(latency_ms="5", read_kbps="1200"),
        split="held-out",
    ),
    Job(
        "gzip_input",
        "Two gzipped CSV files on four slots, read twice.",
        lambda n: n["files_read"] == 4 and long_stage(n, "tasks") == 2 and long_stage(n, "median_ms") > 5000,
        ("unsplittable-input",),
        SHORT + ("row-format", "slow-read", *ALONE, *AGAIN),
        conf={"spark.sql.files.maxPartitionBytes": "16m"},
    ),
    Job(
        "multiline_json",
        "Three files of one JSON array each on four slots, read twice.",
        lambda n: n["files_read"] == 6 and long_stage(n, "tasks") == 3 and long_stage(n, "median_ms") > 4000,
        ("unsplittable-input",),
        SHORT + ("row-format", "slow-read", *ALONE, *AGAIN),
        master="local-cluster[3,2,1024]",
        version=SPARK_4,
        conf={"spark.sql.files.maxPartitionBytes": "8m"},
        split="held-out",
    ),
    Job(
        "csv_again",
        "A CSV table of 220 MB read five times, its types inferred each time.",
        lambda n: n["scans"].get("csv", 0) >= 5 and n["input_bytes"] > 1e9,
        ("row-format",),
        SHORT + AGAIN + ("driver-bound",),  # 4.5 s of 63 between its jobs, in addition to the start of the session
        version=SPARK_4,
    ),
    Job(
        "json_reports",
        "A table of JSON lines read for three reports, the schema given.",
        lambda n: n["scans"].get("json", 0) >= 3 and n["input_bytes"] > 5e8,
        ("row-format",),
        SHORT + AGAIN,
        split="held-out",
    ),
    Job(
        "full_scan",
        "A table of 40 days asked for one day by its timestamp, eight times: all partitions are read.",
        lambda n: n["files_read"] >= 320 and n["scans"].get("parquet", 0) >= 8,
        ("full-scan",),
        SHORT + ("small-input-files", "slow-read", "driver-bound", *AGAIN),
    ),
    Job(
        "full_scan_function",
        "A table of 40 days filtered by a Python function of the partition column, twice.",
        lambda n: n["files_read"] >= 80 and n["scans"].get("parquet", 0) >= 2,
        ("full-scan",),
        SHORT + ("small-input-files", "slow-read", "python-udf", "driver-bound", "scheduler-delay", "too-few-partitions", *AGAIN),
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "row_udf",
        "A Python function called for each of 2.4 million rows, doing what built-ins do.",
        lambda n: n["operators"].get("BatchEvalPython", 0) >= 2 and n["python_bytes"] > 5e7,
        ("python-udf",),
        SHORT,
        conf=FILE_PER_TASK,
    ),
    Job(
        "parse_udf",
        "Text taken apart by Python functions before an aggregate and in a filter.",
        lambda n: n["operators"].get("BatchEvalPython", 0) >= 2 and n["python_bytes"] > 5e7,
        ("python-udf",),
        SHORT + AGAIN + ("driver-bound",),  # a busy machine: 16 s of 74 without a stage
        version=SPARK_4,
        conf=FILE_PER_TASK,
        split="held-out",
    ),
    Job(
        "global_window",
        "Row numbers over 2.4 million rows by a window without PARTITION BY.",
        lambda n: n["operators"].get("Window", 0) >= 1 and long_stage(n, "tasks") == 1,
        ("global-window",),
        SHORT + ("disk-spill", "gc-pressure", "shuffle-heavy", *ALONE),
        conf=FILE_PER_TASK,
    ),
    Job(
        "running_total",
        "Running totals over all rows in SQL, without PARTITION BY, twice.",
        lambda n: n["operators"].get("Window", 0) >= 2 and long_stage(n, "tasks") == 1,
        ("global-window",),
        SHORT + ("disk-spill", "gc-pressure", "shuffle-heavy", *ALONE),
        version=SPARK_4,
        conf=FILE_PER_TASK,
        split="held-out",
    ),
)
