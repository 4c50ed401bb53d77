"""Queries that adaptive execution plans again: many small shuffle partitions, and a join of which one key is large."""

from common import DATA, wait_where
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import orders, start


def totals(spark: SparkSession, scan_ms: int) -> None:
    """An aggregate whose result is small for its number of partitions."""
    by_customer = orders(spark, 1200, scan_ms).groupBy("customer", "store")
    value = by_customer.agg(F.sum("price").alias("value"), F.count("w").alias("n"), F.max("text").alias("last"))
    print(value.agg(F.sum("value"), F.sum("n"), F.max("last")).collect(), flush=True)


def joined(spark: SparkSession, row_ms: int) -> None:
    """A sort-merge join; four orders in ten are of one customer, and some of the joined rows wait."""
    customers = spark.read.parquet(str(DATA / "customers"))
    mine = spark.read.parquet(str(DATA / "orders"))
    mine = mine.withColumn("customer", F.expr("CASE WHEN id % 10 < 4 THEN 7 ELSE customer END"))
    both = mine.join(customers.hint("merge"), "customer")
    both = both.withColumn("w2", wait_where("id % 299 = 1", str(row_ms)))
    print(both.agg(F.count("w2"), F.max("text"), F.max("name")).collect(), flush=True)


def work(spark: SparkSession, scan_ms: int, row_ms: int) -> None:
    totals(spark, scan_ms)
    joined(spark, row_ms)


def main() -> None:
    spark = start(lambda s: work(s, 1, 1))
    work(spark, 80, 40)
    spark.stop()


if __name__ == "__main__":
    main()
