"""The cases of the closed loop: which program runs with which settings, and what repairs it.

A case of the kind `settings` is repaired by the whole plan of the report; one of the kind `code` by the change of the program
that the finding of `rule` describes: `jobs/SCRIPT_repaired.py` is `jobs/SCRIPT.py` with it. A `healthy` one has no fault.
Cases of the second series were written when all models and rules were final, and name what is wrong with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SPARK_3, SPARK_4 = "3.5.6", "4.3.0"
DEVELOPMENT, HELD_OUT = "development", "held-out"
NO_AQE = {"spark.sql.adaptive.enabled": "false"}
NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
NO_COALESCING = {"spark.sql.adaptive.coalescePartitions.enabled": "false"}
NO_SKEW_JOIN = {"spark.sql.adaptive.skewJoin.enabled": "false"}
COALESCED_BY_SIZE = {
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "256m",
}
WHOLE_INPUT = {"spark.sql.files.maxPartitionBytes": "1g", "spark.sql.files.minPartitionNum": "1"}


def shuffles(count: int) -> dict[str, str]:
    return {"spark.sql.shuffle.partitions": str(count)}


def splits(size: str) -> dict[str, str]:
    return {"spark.sql.files.maxPartitionBytes": size}


def rdd_partitions(count: int) -> dict[str, str]:
    return {"spark.default.parallelism": str(count)}


def broadcasts(size: str) -> dict[str, str]:
    return {"spark.sql.autoBroadcastJoinThreshold": size}


def allocation(low: int, first: int, **times: str) -> dict[str, str]:
    """Return the settings of dynamic allocation of at most two executors; `times` are its timeouts."""
    prefix = "spark.dynamicAllocation"
    return {
        f"{prefix}.enabled": "true",
        f"{prefix}.minExecutors": str(low),
        f"{prefix}.initialExecutors": str(first),
        f"{prefix}.maxExecutors": "2",
        **{f"{prefix}.{name}": value for name, value in times.items()},
    }


@dataclass(frozen=True)
class Case:
    """A program with a fault, or a healthy one."""

    name: str
    script: str
    kind: str  # settings, code, two (faults, repaired by settings), healthy
    split: str
    version: str = SPARK_4
    rule: str = ""  # of kind code: whose advice was applied
    memory: str = "1g"
    conf: dict[str, str] = field(default_factory=dict)
    writes: bool = False  # many files: what the machine and short-lived programs do for them looks like other programs
    series: int = 1
    faults: tuple[str, ...] = ()  # of the second series: the first action must cure one of these rules, or set it
    packages: tuple[str, ...] = ()  # that the program needs beside pyspark

    @property
    def repaired_script(self) -> str:
        return f"{self.script}_repaired" if self.kind == "code" else self.script


RELEASING = {"spark.dynamicAllocation.shuffleTracking.timeout": "2s"}  # whatever shuffle output an executor has
PANDAS = {
    SPARK_3: ("pandas==2.2.3", "numpy==1.26.4", "pyarrow==17.0.0"),
    SPARK_4: ("pandas==2.2.3", "pyarrow==18.1.0"),
}


def second(name: str, script: str, kind: str, split: str, version: str, *faults: str, **more: Any) -> Case:
    """Return a case of the second series."""
    return Case(name, script, kind, split, version, series=2, faults=faults, **more)


SECOND = (
    second(
        "packed_hard",
        "reshuffled",
        "settings",
        DEVELOPMENT,
        SPARK_3,
        "spark.io.compression.zstd.level",
        conf={**shuffles(8), "spark.io.compression.codec": "zstd", "spark.io.compression.zstd.level": "9"},
    ),
    second(
        "files_packed_hard",
        "extract",
        "settings",
        HELD_OUT,
        SPARK_4,
        "spark.sql.parquet.compression.codec",
        conf={"spark.sql.parquet.compression.codec": "gzip"},
        writes=True,
    ),
    second(
        "folders_of_crumbs",
        "routes",
        "code",
        HELD_OUT,
        SPARK_3,
        "small-output-files",
        rule="small-output-files",
        writes=True,
    ),
    second(
        "files_of_few_rows",
        "slips",
        "settings",
        DEVELOPMENT,
        SPARK_4,
        "spark.sql.files.maxRecordsPerFile",
        "small-output-files",
        conf={"spark.sql.files.maxRecordsPerFile": "500"},
        writes=True,
    ),
    second("kept_in_part", "ledger_kept", "settings", DEVELOPMENT, SPARK_3, "cache-eviction", memory="600m"),
    second("kept_for_nothing", "ledger_used_once", "code", HELD_OUT, SPARK_4, "unused-cache", rule="unused-cache"),
    second(
        "state_in_crumbs", "seasons", "settings", DEVELOPMENT, SPARK_3, "too-many-partitions", conf=shuffles(100), writes=True
    ),
    second(
        "joined_in_crumbs",
        "matches",
        "settings",
        HELD_OUT,
        SPARK_4,
        "too-many-partitions",
        conf=shuffles(64),
        writes=True,
    ),
    second(
        "pairs_in_crumbs",
        "suppliers_of_parts",
        "settings",
        DEVELOPMENT,
        SPARK_3,
        "too-many-partitions",
        conf=rdd_partitions(160),
    ),
    second("lists_of_amounts", "baskets", "code", HELD_OUT, SPARK_3, "shuffle-heavy", rule="shuffle-heavy"),
    second(
        "arrow_in_crumbs",
        "vectors",
        "settings",
        DEVELOPMENT,
        SPARK_3,
        "spark.sql.execution.arrow.maxRecordsPerBatch",
        conf={"spark.sql.execution.arrow.maxRecordsPerBatch": "100"},
        packages=PANDAS[SPARK_3],
    ),
    second(
        "frame_by_rows",
        "frames",
        "settings",
        HELD_OUT,
        SPARK_3,
        "spark.sql.execution.arrow.pyspark.enabled",
        packages=PANDAS[SPARK_3],
    ),
    second(
        "workers_started_again",
        "lookups_by_line",
        "settings",
        DEVELOPMENT,
        SPARK_3,
        "spark.python.worker.reuse",
        conf={"spark.python.worker.reuse": "false"},
        writes=True,
    ),
    second("window_of_most", "shares", "code", HELD_OUT, SPARK_3, "data-skew", rule="data-skew"),
    second(
        "windows_in_two",
        "queues",
        "settings",
        DEVELOPMENT,
        SPARK_4,
        "disk-spill",
        "too-few-partitions",
        "oversized-partition",
        memory="600m",
        conf={**NO_AQE, **shuffles(2)},
    ),
    second(
        "released_while_read",
        "inspections",
        "settings",
        HELD_OUT,
        SPARK_3,
        "executor-churn",
        conf={**shuffles(8), **RELEASING, **allocation(0, 2, executorIdleTimeout="2s")},
    ),
    second(
        "blocks_released",
        "reviews",
        "settings",
        DEVELOPMENT,
        SPARK_4,
        "executor-churn",
        "cache-eviction",
        conf={**shuffles(8), **RELEASING, **allocation(0, 2, executorIdleTimeout="3s", cachedExecutorIdleTimeout="3s")},
    ),
    second(
        "sorted_in_a_corner",
        "refunds",
        "settings",
        HELD_OUT,
        SPARK_4,
        "spark.memory.fraction",
        "disk-spill",
        conf={**shuffles(8), "spark.memory.fraction": "0.03"},
    ),
    second(
        "file_by_file",
        "visits",
        "settings",
        HELD_OUT,
        SPARK_4,
        "spark.sql.files.openCostInBytes",
        "too-many-partitions",
        "small-input-files",
        conf={**shuffles(4), "spark.sql.files.openCostInBytes": "128m"},
    ),
    second(
        "schemas_merged",
        "accounts",
        "settings",
        DEVELOPMENT,
        SPARK_3,
        "spark.sql.parquet.mergeSchema",
        conf={**shuffles(4), "spark.sql.parquet.mergeSchema": "true"},
    ),
    second(
        "interpreted",
        "interest",
        "settings",
        HELD_OUT,
        SPARK_3,
        "spark.sql.codegen.wholeStage",
        conf={**shuffles(4), "spark.sql.codegen.wholeStage": "false"},
    ),
    second(
        "read_by_rows",
        "weights",
        "settings",
        DEVELOPMENT,
        SPARK_3,
        "spark.sql.parquet.enableVectorizedReader",
        conf={**shuffles(4), "spark.sql.parquet.enableVectorizedReader": "false"},
    ),
    second(
        "parsed_four_times", "panels", "code", HELD_OUT, SPARK_4, "row-format", "repeated-scan", rule="repeated-scan"
    ),
    second(
        "wide_in_crumbs",
        "profile_of_parts",
        "settings",
        DEVELOPMENT,
        SPARK_4,
        "too-many-partitions",
        "aqe-disabled",
        conf={**NO_AQE, **shuffles(700)},
    ),
)

CASES = (
    Case("many_partitions", "revenue", "settings", DEVELOPMENT, conf={**NO_AQE, **shuffles(1600)}),
    Case("small_splits", "pricing", "settings", DEVELOPMENT, conf=splits("512k")),
    Case("one_partition", "priorities", "settings", DEVELOPMENT, SPARK_3, conf={**NO_AQE, **shuffles(1)}),
    Case("sorted_dimension", "parts", "settings", HELD_OUT, SPARK_3, conf={**NO_BROADCAST, **shuffles(64)}),
    Case("tight_heap", "shipments", "settings", HELD_OUT, memory="600m", conf={**NO_AQE, **shuffles(3)}),
    Case("guest_customer", "guests", "settings", HELD_OUT, conf={**NO_BROADCAST, **shuffles(24)}),
    Case("reducers_of_crumbs", "modes", "settings", DEVELOPMENT, SPARK_3, conf=rdd_partitions(250)),
    Case("one_reducer", "medians", "settings", HELD_OUT, SPARK_3, conf=rdd_partitions(1)),
    Case(
        "late_executor",
        "charges",
        "settings",
        DEVELOPMENT,
        SPARK_3,
        conf={**splits("32m"), **allocation(1, 1, schedulerBacklogTimeout="15s")},
    ),
    Case(
        "executors_released",
        "bulletins",
        "settings",
        HELD_OUT,
        SPARK_3,
        conf=allocation(0, 2, executorIdleTimeout="2s"),
        writes=True,
    ),
    Case(
        "cached_by_the_first",
        "phrases",
        "settings",
        DEVELOPMENT,
        SPARK_3,
        conf={"spark.locality.wait": "20s", **splits("32m"), **allocation(1, 1, schedulerBacklogTimeout="6s")},
    ),
    Case("small_fraction", "revenue", "settings", DEVELOPMENT, SPARK_3, conf={"spark.memory.fraction": "0.02"}),
    Case("crowded_heap", "words", "settings", DEVELOPMENT, SPARK_3, memory="500m", conf={**NO_AQE, **shuffles(10)}),
    Case("not_coalesced", "quarters", "settings", HELD_OUT, SPARK_3, conf={**NO_COALESCING, **shuffles(600)}),
    Case("coalesced_to_one", "trends", "settings", DEVELOPMENT, SPARK_3, conf=COALESCED_BY_SIZE),
    Case("one_window_task", "trends", "settings", HELD_OUT, conf={**NO_AQE, **shuffles(1)}),
    Case("sorted_star", "stars", "settings", HELD_OUT, SPARK_3, conf={**NO_BROADCAST, **shuffles(32)}),
    Case("low_threshold", "origins", "settings", DEVELOPMENT, conf={**broadcasts("64k"), **shuffles(32)}),
    Case("unknown_part", "catalogue", "settings", DEVELOPMENT, SPARK_3, conf={**NO_SKEW_JOIN, **shuffles(16)}),
    Case("one_depot", "places", "settings", HELD_OUT, SPARK_3, conf={**NO_AQE, **shuffles(16)}),
    Case("one_reader", "charges", "settings", DEVELOPMENT, SPARK_3, conf=WHOLE_INPUT),
    Case("text_in_crumbs", "tariffs", "settings", HELD_OUT, conf=splits("1m")),
    Case("stream_of_crumbs", "arrivals", "settings", HELD_OUT, SPARK_3, writes=True),
    Case("files_of_crumbs", "monthly", "settings", HELD_OUT, SPARK_3, conf={**NO_AQE, **shuffles(700)}, writes=True),
    Case("cut_twice", "returns", "two", HELD_OUT, conf={**NO_AQE, **shuffles(1000), **splits("1m")}),
    Case("wide_and_sorted", "nations", "two", HELD_OUT, SPARK_3, conf={**NO_AQE, **NO_BROADCAST, **shuffles(800)}),
    Case(
        "thin_and_sorted", "origins", "two", DEVELOPMENT, SPARK_3, conf={**NO_BROADCAST, **shuffles(32), **splits("1m")}
    ),
    Case(
        "late_and_wide",
        "revenue",
        "two",
        DEVELOPMENT,
        SPARK_3,
        conf={**NO_AQE, **shuffles(600), **splits("32m"), **allocation(1, 1, schedulerBacklogTimeout="25s")},
    ),
    Case("rows_and_lines", "mixed", "two", DEVELOPMENT, conf={**NO_AQE, **shuffles(500), **rdd_partitions(300)}),
    Case("depot_and_splits", "places", "two", HELD_OUT, SPARK_3, conf={**NO_SKEW_JOIN, **shuffles(16), **splits("1m")}),
    Case("row_function", "discounts", "code", HELD_OUT, rule="python-udf"),
    Case("computed_again", "segments", "code", DEVELOPMENT, rule="missing-cache"),
    Case("one_gzip_file", "archive", "code", HELD_OUT, rule="unsplittable-input"),
    Case("tiny_files", "daily", "code", DEVELOPMENT, rule="small-output-files", writes=True),
    Case("scanned_again", "complaints", "code", HELD_OUT, SPARK_3, rule="repeated-scan"),
    Case("parsed_again", "journeys", "code", DEVELOPMENT, SPARK_3, rule="missing-cache"),
    Case("every_pair", "bands", "code", DEVELOPMENT, SPARK_3, rule="cartesian-product"),
    Case("total_of_all", "running", "code", HELD_OUT, rule="global-window"),
    Case("one_by_one", "scenarios", "code", HELD_OUT, SPARK_3, rule="sequential-jobs"),
    Case("sums_on_the_driver", "clerks", "code", HELD_OUT, SPARK_3, rule="driver-bound"),
    Case("types_guessed", "inferred", "code", DEVELOPMENT, SPARK_3, rule="row-format"),
    Case("exploded_days", "transit", "code", DEVELOPMENT, SPARK_3, rule="row-explosion"),
    Case("healthy_returns", "returns", "healthy", HELD_OUT),
    Case("healthy_priorities", "priorities", "healthy", HELD_OUT, SPARK_3),
    Case("healthy_stars", "stars", "healthy", DEVELOPMENT, SPARK_3),
    Case("healthy_lines", "modes", "healthy", DEVELOPMENT, SPARK_3, conf=rdd_partitions(4)),
    Case("healthy_arrivals", "arrivals", "healthy", DEVELOPMENT, conf=shuffles(2), writes=True),
    Case("healthy_export", "export", "healthy", HELD_OUT, SPARK_3, writes=True),
    *SECOND,
)
