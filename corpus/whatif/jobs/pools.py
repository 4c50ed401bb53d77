"""A long batch query in one pool and short questions one after the other in another."""

import threading

from common import wait_where
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import start


def ask(spark: SparkSession, pool: str, tasks: int, milliseconds: int) -> list:
    """Count rows that each wait, in a number of tasks of ten rows."""
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", pool)
    rows = spark.range(0, tasks * 10, 1, tasks).withColumn("w", wait_where("true", str(milliseconds)))
    return rows.groupBy((F.col("id") % 12).alias("k")).agg(F.count("w")).collect()


def questions(spark: SparkSession, pool: str, count: int) -> None:
    for number in range(count):
        ask(spark, pool, 3 + number % 3, 40)


def main() -> None:
    spark = start(lambda s: [ask(s, "batch", tasks, 1) for tasks in (60, 3, 4, 5)])
    threads = [threading.Thread(target=ask, args=(spark, "batch", 60, 50))]
    threads += [threading.Thread(target=questions, args=(spark, pool, 7)) for pool in ("web", "desk")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spark.stop()


if __name__ == "__main__":
    main()
