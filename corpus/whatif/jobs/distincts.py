"""Distinct values of wide rows: maps that grow with the data."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem")
    show(items.groupBy("l_suppkey").agg(F.countDistinct("l_partkey", "l_shipdate").alias("n")))
    lists = items.groupBy("l_partkey").agg(F.collect_list("l_extendedprice").alias("prices"), F.max("l_comment"))
    show(lists.selectExpr("l_partkey", "size(prices) AS n", "array_max(prices) AS most"))
    spark.stop()


if __name__ == "__main__":
    main()
