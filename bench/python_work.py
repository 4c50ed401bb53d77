"""Work of Python functions, which the overhead of profilers is measured with: PROFILER. Prints its seconds as JSON."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
import time
from operator import add
from typing import Any, Callable, Iterator

from pyrometer import PROFILERS
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

WORDS = re.compile(r"[a-z]+|[0-9]+")


def words_of(number: int) -> list[str]:
    """Make a line of text of a number, and split it."""
    line = f"item {number % 997} of order {number * 31 % 1009} weighs {number % 83} units"
    return WORDS.findall(line)


def weight_of(number: int) -> int:
    """Compute a little, as functions of a column do."""
    text = str(number * 7919 % 100_003)
    return sum(int(digit) for digit in text) + len(text)


def measured(work: Callable[[int], object]) -> float:
    """Return the seconds of the work, after some of it for the compilers of the JVM."""
    work(100_000)
    began = time.perf_counter()
    work(1_000_000)
    return time.perf_counter() - began


def works(spark: SparkSession) -> Iterator[tuple[str, Callable[[int], object]]]:
    """Yield the name of each kind of work, and a function of the number of rows."""

    def rdd(rows: int) -> object:
        words = spark.sparkContext.range(0, rows, 1, 8).flatMap(words_of)
        return words.map(lambda word: (word, 1)).reduceByKey(add, 4).count()

    def noop(rows: int, function: Any) -> None:
        spark.range(0, rows, 1, 8).select(function("id")).write.format("noop").mode("overwrite").save()

    yield "RDD", rdd
    yield "function of rows", lambda rows: noop(3 * rows, F.udf(weight_of, "long"))
    if importlib.util.find_spec("pyarrow") and importlib.util.find_spec("pandas"):
        import pandas as pd

        def weights(numbers: pd.Series) -> pd.Series:
            return numbers.map(weight_of)

        weights.__annotations__ = {"numbers": pd.Series, "return": pd.Series}  # Spark does not look up names of a function

        yield "function of batches", lambda rows: noop(5 * rows, F.pandas_udf(weights, "long"))


def main(profiler: str) -> None:
    conf = SparkConf().set("spark.python.profile", str(profiler != "none").lower())
    cls = PROFILERS.get(profiler)  # none: what Spark has
    given: dict[str, Any] = {"profiler_cls": cls, "udf_profiler_cls": cls} if cls else {}
    sc = SparkContext(conf=conf, **given)
    spark = SparkSession.builder.getOrCreate()
    print(json.dumps({name: round(measured(work), 3) for name, work in works(spark)}), flush=True)
    if profiler != "none":
        sc.dump_profiles(tempfile.mkdtemp(dir="."))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
