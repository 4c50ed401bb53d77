"""Prices after discounts, by Spark's own functions."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 = 0")
    price = F.expr("CAST(l_extendedprice AS DOUBLE) * (1 - l_discount) * (1 + l_tax)")
    show(items.withColumn("net", price).groupBy("l_suppkey").agg(F.sum("net"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
