"""Faults of physical plans: joins, scans and shuffles that a better plan would not have."""

from __future__ import annotations

from job import SHORT, SPARK_4, Job, Numbers

SORTED = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
# shuffles of a few hundred megabytes honestly weigh in runs of under a minute
HEAVY = SHORT + ("shuffle-heavy", "shuffle-write-slow", "gc-pressure", "driver-bound")


def sorts_small(numbers: Numbers) -> bool:
    """A sort-merge join has one side of under a megabyte and one of over a hundred."""
    sides = numbers["plans"]["sorted_join_sides_bytes"]
    return sides is not None and sides[0] < 1_000_000 and sides[1] > 100_000_000


def multiplies(numbers: Numbers) -> bool:
    """An operator puts out twenty times its larger input, over ten million rows."""
    times, rows = numbers["plans"]["most_growth"]
    return times > 20 and rows > 10_000_000


def shuffles_crumbs(numbers: Numbers) -> bool:
    """Most tasks are over in a moment."""
    return numbers["tasks"] > 1200 and numbers["median_task_ms"] < 100


JOBS = (
    Job(
        "join_sorted",
        "Broadcast joins turned off: 2.4 M rows shuffled and sorted to join a thousand.",
        sorts_small,
        ("missed-broadcast-join",),
        HEAVY + ("missing-cache",),  # the small table is read by all three queries
        conf=SORTED,
    ),
    Job(
        "join_hinted",
        "Left joins with a merge hint to a table of 64 rows, adaptive execution off.",
        sorts_small,
        ("missed-broadcast-join",),
        HEAVY + ("aqe-disabled", "data-skew", "idle-executors", "too-many-partitions", "disk-spill"),
        master="local[4]",
        version=SPARK_4,
        conf={"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "24"},
        split="held-out",
    ),
    Job(
        "broadcast_large",
        "A hint broadcasts 1.2 M rows of text to executors of 1 GB.",
        lambda n: n["plans"]["largest_broadcast_bytes"] > 110_000_000,
        ("oversized-broadcast",),
        HEAVY + ("driver-memory", "memory-near-limit", "large-result"),
        conf={"spark.driver.memory": "2g"},
    ),
    Job(
        "broadcast_threshold",
        "autoBroadcastJoinThreshold raised to 1 GB: a dimension of 1.2 M rows is broadcast.",
        lambda n: n["plans"]["largest_broadcast_bytes"] > 110_000_000,
        ("oversized-broadcast",),
        HEAVY + ("driver-memory", "memory-near-limit", "large-result"),
        version=SPARK_4,
        conf={"spark.driver.memory": "2g", "spark.sql.autoBroadcastJoinThreshold": "1g"},
        split="held-out",
    ),
    Job(
        "cross_product",
        "A join without equality compares 240 M pairs of rows, twice.",
        lambda n: n["plans"]["most_pairs"] > 200_000_000,
        ("cartesian-product",),
        SHORT,
        conf=SORTED,
    ),
    Job(
        "nested_loop",
        "800,000 events looked up by BETWEEN in 3,000 broadcast ranges, twice.",
        lambda n: n["plans"]["most_pairs"] > 500_000_000,
        ("cartesian-product",),
        SHORT + ("driver-bound",),
        master="local[4]",
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "explode_rows",
        "Each sale is exploded to sixty days before counting.",
        multiplies,
        ("row-explosion",),
        HEAVY + ("disk-spill", "too-few-partitions"),
    ),
    Job(
        "join_many",
        "A key that repeats three hundred times in both tables of a join.",
        multiplies,
        ("row-explosion",),
        HEAVY + ("missed-broadcast-join", "disk-spill", "data-skew", "too-few-partitions"),
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "scan_again",
        "Eight reports read and filter the same Parquet table.",
        lambda n: n["plans"]["most_scans_of_a_table"] >= 8,
        ("repeated-scan",),
        SHORT + ("missing-cache", "full-scan", "driver-bound", "sequential-jobs"),
    ),
    Job(
        "union_scans",
        "One query parses the same CSV table six times.",
        lambda n: n["plans"]["most_scans_of_a_table"] >= 6,
        ("repeated-scan",),
        SHORT + ("missing-cache", "full-scan", "driver-bound", "row-format"),
        version=SPARK_4,
        split="held-out",
    ),
    Job(
        "aqe_off",
        "Adaptive execution off: four queries of 200 shuffle partitions of a few kilobytes.",
        shuffles_crumbs,
        ("aqe-disabled",),
        SHORT + ("too-many-partitions", "driver-bound", "missing-cache", "repeated-scan", "scheduler-delay", "task-overhead"),
        conf={"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "200"},
    ),
    Job(
        "coalesce_off",
        "Adaptive execution may not join partitions: joins in 600 partitions of a few rows.",
        shuffles_crumbs,
        ("aqe-disabled",),
        SHORT
        + ("too-many-partitions", "driver-bound", "repeated-scan", "scheduler-delay", "task-overhead", "full-scan")
        + ("gc-pressure",),  # 1,800 queued tasks in a heap of 1 GB
        master="local[4]",
        version=SPARK_4,
        conf={
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
            "spark.sql.shuffle.partitions": "600",
        },
        split="held-out",
    ),
)
