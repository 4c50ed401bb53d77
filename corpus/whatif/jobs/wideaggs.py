"""Sixty aggregates of each part: wide rows in hash tables and in the shuffle."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    sums = [
        F.sum(F.expr(f"IF(l_suppkey % 12 = {i}, {column}, 0)")).alias(f"{column}_{i}")
        for i in range(12)
        for column in ("l_quantity", "l_extendedprice", "l_discount", "l_tax")
    ]
    most = [F.max(F.expr(f"IF(l_suppkey % 12 = {i}, l_shipdate, NULL)")).alias(f"last_{i}") for i in range(12)]
    show(items.groupBy("l_partkey").agg(*sums, *most))
    spark.stop()


if __name__ == "__main__":
    main()
