"""An application with functions whose share of the time is known, for tests of the profilers: FOLDER."""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Iterable, Iterator

from pyrometer import CpuMemStackProfiler, StackProfiler
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

sc = SparkContext(profiler_cls=CpuMemStackProfiler, udf_profiler_cls=StackProfiler)
spark = SparkSession.builder.getOrCreate()


def hot(seconds: float) -> int:
    """Use the processor."""
    total, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        total += sum(range(500))
    return total


def cold() -> None:
    """Wait for a short while."""
    time.sleep(0.1)


def mostly_hot(rows: Iterable[int]) -> Iterator[int]:
    """Nine tenths of the time in one function."""
    cold()
    yield hot(0.9) + sum(rows)


def slow_row(number: int) -> int:
    """Wait for each row."""
    time.sleep(0.02)
    return number


sc.parallelize(range(8), 2).mapPartitions(mostly_hot).count()
spark.range(0, 40, 1, 2).select(F.udf(slow_row, "long")("id")).collect()
if importlib.util.find_spec("pyarrow") and importlib.util.find_spec("pandas"):
    import pandas as pd

    def slow_batch(values: pd.Series) -> pd.Series:
        """Wait for each batch."""
        time.sleep(0.5)
        return values + 1

    spark.range(0, 40, 1, 1).select(F.pandas_udf(slow_batch, "long")("id")).collect()
sc.show_profiles()
sc.dump_profiles(sys.argv[1])
sc.stop()
