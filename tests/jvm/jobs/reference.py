"""A client of Spark Connect that computes a little and writes much: `reference.py FOLDER MILLION_ROWS ADDRESS`."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    spark = SparkSession.builder.remote(sys.argv[3]).getOrCreate()
    rows = spark.range(0, int(float(sys.argv[2]) * 1_000_000), 1, 4)
    keys = rows.groupBy((F.col("id") % 1000).alias("k")).agg(F.sum("id").alias("n"))
    print(keys.filter(F.col("n") > 0).count())
    wide = rows.select("id", F.sha2(F.col("id").cast("string"), 256).alias("text"))
    wide.write.option("compression", "uncompressed").parquet(sys.argv[1])
    spark.stop()


if __name__ == "__main__":
    main()
