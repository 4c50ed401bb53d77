"""Narrow and wide phases in turn, so that executors are idle now and wanted then."""

from common import wait_where
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import start


def phase(spark: SparkSession, tasks: int, milliseconds: int) -> list:
    """Tasks of ten rows each, and a small aggregate of them."""
    rows = spark.range(0, tasks * 10, 1, tasks).withColumn("w", wait_where("true", str(milliseconds)))
    return rows.groupBy((F.col("id") % 6).alias("k")).agg(F.count("w")).collect()


def main() -> None:
    spark = start(lambda s: [phase(s, tasks, 1) for tasks in (32, 1, 40)])
    for tasks, milliseconds in ((32, 90), (1, 600), (40, 70)):
        print(phase(spark, tasks, milliseconds), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
