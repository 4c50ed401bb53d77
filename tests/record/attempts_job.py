"""Fails after one job on YARN's first attempt, and succeeds on the second."""

import sys

from pyspark.sql import SparkSession


def main() -> None:
    spark = SparkSession.builder.getOrCreate()
    attempt = spark.sparkContext._jsc.sc().applicationAttemptId().get()
    print(attempt, spark.range(0, 1000, 1, 4).selectExpr("sum(id)").collect())
    if attempt == "1":
        sys.exit("the first attempt is meant to fail")
    spark.stop()


if __name__ == "__main__":
    main()
