"""Rows with long texts sorted within four large partitions: spills where an executor has little memory."""

from common import text
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import start


def sort(spark: SparkSession, rows: int, tasks: int) -> None:
    """The writer takes rows in their order, so the sort stays in the plan."""
    wide = text(spark.range(0, rows, 1, tasks)).withColumn("key", F.expr("hash(id)"))
    wide.repartition(tasks, "key").sortWithinPartitions("text").write.format("noop").mode("overwrite").save()


def main() -> None:
    spark = start(lambda s: sort(s, 100_000, 4))
    for _ in range(2):
        sort(spark, 3_000_000, 4)
    spark.stop()


if __name__ == "__main__":
    main()
