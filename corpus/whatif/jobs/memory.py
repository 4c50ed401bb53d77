"""Rows with long texts sorted and grouped: needs memory, spills where there is little of it."""

from common import text
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import start


def sort(spark: SparkSession, rows: int, tasks: int) -> int:
    wide = text(spark.range(0, rows, 1, tasks)).withColumn("key", F.expr("hash(id)"))
    ordered = wide.repartition(tasks, "key").sortWithinPartitions("text")
    return ordered.selectExpr("max(length(text))", "sum(key)", "count(DISTINCT substring(text, 1, 3))").collect()[0][0]


def main() -> None:
    spark = start(lambda s: sort(s, 100_000, 4))
    for _ in range(2):
        print(sort(spark, 3_000_000, 4), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
