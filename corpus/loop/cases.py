"""The cases of the closed loop: which program runs with which settings, and what repairs it.

A case of the kind `settings` is repaired by the whole plan of the report; one of the kind `code` by the change of the program
that the finding of `rule` describes: `jobs/SCRIPT_repaired.py` is `jobs/SCRIPT.py` with it. A `healthy` one has no fault.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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

    @property
    def repaired_script(self) -> str:
        return f"{self.script}_repaired" if self.kind == "code" else self.script


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
)
