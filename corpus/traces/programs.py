"""The programs of the recorded traces: programs.py PROGRAM READY GO [ARGUMENT]

A program warms up, makes the file READY and waits for the file GO. What follows is traced.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Dict

from pyspark.sql import SparkSession

TASKS = 8
FUNCTIONS = {"locked": ("Locked", "bigint"), "single_bytes": ("SingleBytes", "bigint"), "ask": ("Ask", "bigint")}


def compute(spark: SparkSession, scale: int, _: str) -> None:
    """Tasks of the JVM that only compute."""
    spark.range(0, scale * 100_000, 1, TASKS).selectExpr("sum(length(sha2(cast(id as string), 512)))").collect()


def python(spark: SparkSession, scale: int, _: str) -> None:
    """Python workers that only compute."""

    def digest(rows: Iterable[int]) -> Iterator[int]:
        yield sum(hashlib.sha256(str(row).encode()).digest()[0] for row in rows)

    spark.sparkContext.parallelize(range(scale * 40_000), TASKS).mapPartitions(digest).sum()


def shuffle(spark: SparkSession, scale: int, _: str) -> None:
    """Rows go through a shuffle."""
    rows = spark.range(0, scale * 100_000, 1, TASKS).selectExpr("id % 50000 as k", "sha2(cast(id as string), 256) as text")
    rows.repartition(TASKS, "k").selectExpr("sum(length(text))").collect()


def locked(spark: SparkSession, scale: int, _: str) -> None:
    """All rows of an executor need one lock."""
    spark.range(0, scale * 8, 1, TASKS).selectExpr("sum(locked(40L + id - id))").collect()


def single_bytes(spark: SparkSession, scale: int, _: str) -> None:
    """Each row writes single bytes."""
    spark.range(0, scale * TASKS, 1, TASKS).selectExpr("sum(single_bytes(20000L + id - id))").collect()


def ask(spark: SparkSession, scale: int, peer: str) -> None:
    """Each row asks a peer and waits."""
    spark.range(0, scale * TASKS, 1, TASKS).selectExpr(f"sum(ask('{peer}', 3L + id - id))").collect()


PROGRAMS: Dict[str, Callable[[SparkSession, int, str], None]] = {
    "compute": compute, "python": python, "shuffle": shuffle, "locked": locked, "single_bytes": single_bytes, "ask": ask,
}


def main() -> None:
    name, ready, go, scale, argument = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    spark = SparkSession.builder.appName(name).getOrCreate()
    if name in FUNCTIONS:
        function, result = FUNCTIONS[name]
        spark.udf.registerJavaFunction(name, f"pyrometer.Functions${function}", result)
    if name != "ask":
        PROGRAMS[name](spark, 1, argument)
    ready.touch()
    limit = time.monotonic() + 120
    while not go.exists():
        if time.monotonic() > limit:
            sys.exit("nobody said that the trace has begun")
        time.sleep(0.02)
    PROGRAMS[name](spark, scale, argument)
    os.sync()
    spark.stop()


if __name__ == "__main__":
    main()
