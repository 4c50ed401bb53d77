"""Twelve independent queries asked from six threads, all in one pool or each thread's in its own."""

from concurrent.futures import ThreadPoolExecutor

from common import wait_where
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import start


def query(spark: SparkSession, number: int, milliseconds: int) -> int:
    """A narrow stage of four to ten tasks, then a wide one."""
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", f"pool{number % 3}")
    tasks = 4 + number % 3 * 3
    rows = spark.range(0, tasks * 10, 1, tasks).withColumn("w", wait_where("true", str(milliseconds)))
    groups = rows.groupBy((F.col("id") % 24).alias("k")).agg(F.count("w").alias("n"))
    groups = groups.withColumn("w2", wait_where("true", str(2 * milliseconds)))
    return groups.agg(F.count("w2"), F.sum("n")).collect()[0][0]


def main() -> None:
    spark = start(lambda s: [query(s, number, 1) for number in range(3)])
    with ThreadPoolExecutor(6) as pool:
        print(sum(pool.map(lambda n: query(spark, n, 40), range(12))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
