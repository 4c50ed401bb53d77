"""Two reports one after the other: each scans and joins, then aggregates twice."""

import time

from common import DATA, wait_where
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import orders, start


def report(spark: SparkSession, scan_ms: int, group_ms: int) -> None:
    """Sum what customers bought by group, then by region; some rows and all groups wait."""
    customers = spark.read.parquet(str(DATA / "customers"))
    bought = orders(spark, 1200, scan_ms).join(customers, "customer")
    groups = bought.groupBy((F.col("customer") % 360).alias("part")).agg(
        F.sum("price").alias("value"), F.count("w").alias("waits"), F.max("text").alias("last")
    )
    groups = groups.withColumn("w", wait_where("part >= 0", str(group_ms)))
    regions = groups.groupBy((F.col("part") % 8).alias("region"))
    print(regions.agg(F.sum("value"), F.count("w"), F.sum("waits"), F.max("last")).collect()[:1], flush=True)


def main() -> None:
    spark = start(lambda s: report(s, 1, 1))
    for _ in range(2):
        report(spark, 35, 22)
        time.sleep(0.7)
    spark.stop()


if __name__ == "__main__":
    main()
