"""A few seconds of work in the JVM and in Python workers, for a profiler."""

from __future__ import annotations

from pyspark.sql import SparkSession


def slow_square(value: int) -> int:
    """Takes some time in a Python worker."""
    total = 0
    for i in range(2000):
        total += value * value + i
    return total


spark = SparkSession.builder.getOrCreate()
rows = spark.range(0, 500_000, numPartitions=4)
rows.selectExpr("id % 1000 AS key", "sin(id) AS value").groupBy("key").sum("value").count()
rows.limit(4000).rdd.map(lambda row: slow_square(row.id)).sum()
spark.stop()
