"""Two jobs of a few tasks."""

from __future__ import annotations

from pyspark.sql import SparkSession


def main() -> None:
    spark = SparkSession.builder.getOrCreate()
    numbers = spark.range(0, 200000, 1, 4)
    assert numbers.count() == 200000
    numbers.selectExpr("id % 7 AS key", "id").groupBy("key").sum("id").collect()
    spark.stop()


if __name__ == "__main__":
    main()
