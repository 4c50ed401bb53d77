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


def shuffles(count: int) -> dict[str, str]:
    return {"spark.sql.shuffle.partitions": str(count)}


def splits(size: str) -> dict[str, str]:
    return {"spark.sql.files.maxPartitionBytes": size}


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
    writes: bool = False  # many files: what the machine does for them looks like other programs

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
    Case("cut_twice", "returns", "two", HELD_OUT, conf={**NO_AQE, **shuffles(1000), **splits("1m")}),
    Case("wide_and_sorted", "nations", "two", HELD_OUT, SPARK_3, conf={**NO_AQE, **NO_BROADCAST, **shuffles(800)}),
    Case("row_function", "discounts", "code", HELD_OUT, rule="python-udf"),
    Case("computed_again", "segments", "code", DEVELOPMENT, rule="missing-cache"),
    Case("one_gzip_file", "archive", "code", HELD_OUT, rule="unsplittable-input"),
    Case("tiny_files", "daily", "code", DEVELOPMENT, rule="small-output-files", writes=True),
    Case("healthy_returns", "returns", "healthy", HELD_OUT),
    Case("healthy_priorities", "priorities", "healthy", HELD_OUT, SPARK_3),
)
