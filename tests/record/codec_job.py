"""The application behind the codec logs: SQL with a shuffle, then an RDD action.

`--tasks` sets the width of the shuffle, `--rounds` how often the query runs;
`--hold FILE` stops in the middle until FILE appears, so that the unfinished log
can be copied.
"""

import argparse
import os
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def run_sql(spark: SparkSession, width: int) -> None:
    """A join and an aggregate over `width` shuffle partitions."""
    spark.conf.set("spark.sql.shuffle.partitions", str(width))
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    orders = spark.range(0, 200_000, 1, 6).withColumn("customer", F.col("id") % 1000)
    customers = spark.range(0, 1000, 1, 2).withColumnRenamed("id", "customer")
    joined = orders.join(customers, "customer")
    print(joined.groupBy("customer").agg(F.sum("id").alias("s")).agg(F.sum("s")).collect())


def run_rdd(spark: SparkSession) -> None:
    """A word count, so that the log has plain RDD stages too."""
    pairs = spark.sparkContext.parallelize(range(4000), 8).map(lambda i: (i % 17, 1))
    print(sorted(pairs.reduceByKey(lambda a, b: a + b, 6).collect()))


def hold(path: str) -> None:
    """Say that the log may be copied, and wait for leave to go on."""
    open(path + ".ready", "w").close()
    end = time.monotonic() + 120
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--hold", default="")
    options = parser.parse_args()
    spark = SparkSession.builder.getOrCreate()
    for _ in range(options.rounds):
        run_sql(spark, options.tasks)
    if options.hold:
        hold(options.hold)
    run_rdd(spark)
    spark.stop()


if __name__ == "__main__":
    main()
