"""The work that all runs of the pairs share: two reports over sales. One file, so that its call sites are the same."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F

QUESTIONS = (("product", "nation"), ("store", "segment"))


def report(months: int) -> None:
    """Answer each question from a number of months of sales."""
    spark = session()
    customers = spark.read.parquet(str(DATA / "customers"))
    for number, (first, second) in enumerate(QUESTIONS):
        paths = [str(DATA / f"sales-{months * number + month}") for month in range(months)]
        sales = spark.read.parquet(*paths).withColumn("w", wait_where("id % 4000 = 1", "70"))
        totals = (
            sales.join(customers, "customer")
            .groupBy(first, second)
            .agg(F.sum(F.col("price") * F.col("quantity")).alias("value"), F.count("w"))
        )
        print(totals.orderBy(F.desc("value")).limit(20).collect(), flush=True)
    spark.stop()
