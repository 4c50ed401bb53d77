"""A client of Spark Connect: one query, in the trace that its address names."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    print(spark.range(0, 1000, 1, 4).groupBy((F.col("id") % 10).alias("k")).count().count())
    spark.stop()


if __name__ == "__main__":
    main()
