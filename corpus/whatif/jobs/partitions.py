"""Two queries whose tasks' number is that of the settings: of the scan's splits and of the shuffle's partitions."""

from common import wait_where
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import orders, start


def query(spark: SparkSession, scan_ms: int, group_ms: int) -> None:
    """Aggregate by 1,024 keys, of which each waits; some rows of the scan wait, too."""
    groups = orders(spark, 1200, scan_ms).groupBy((F.col("customer") % 1024).alias("key"))
    groups = groups.agg(F.count("w").alias("n"), F.max("text").alias("last"), F.sum("price").alias("value"))
    groups = groups.withColumn("w2", wait_where("true", str(group_ms)))
    print(groups.agg(F.count("w2"), F.sum("n"), F.max("last"), F.sum("value")).collect(), flush=True)


def main() -> None:
    spark = start(lambda s: query(s, 1, 1))
    for _ in range(2):
        query(spark, 50, 20)
    spark.stop()


if __name__ == "__main__":
    main()
