"""A Spark Connect client: two queries over gRPC, one of them failing."""

import sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    rows = spark.range(0, 100_000, 1, 4).groupBy((F.col("id") % 7).alias("key"))
    print(rows.agg(F.sum("id")).orderBy("key").collect())
    try:
        spark.sql("SELECT raise_error('planned') FROM range(2)").collect()
    except PySparkException as error:
        print("as planned:", type(error).__name__)
    spark.stop()


if __name__ == "__main__":
    main()
