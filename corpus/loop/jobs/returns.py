"""Returned items by supplier and month, and the suppliers with most of them."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_returnflag = 'R'")
    months = items.groupBy("l_suppkey", F.trunc("l_receiptdate", "month").alias("month"))
    lost = months.agg(F.sum("l_extendedprice").alias("price"), F.count("*").alias("items"))
    show(lost.groupBy("l_suppkey").agg(F.sum("price"), F.max("items")))
    spark.stop()


if __name__ == "__main__":
    main()
