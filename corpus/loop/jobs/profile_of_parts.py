"""Forty sums of each part and month, in wide rows."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 = 0").withColumn("month", F.month("l_shipdate"))
    sums = [F.sum(F.expr(f"IF(month = {month}, l_quantity, 0)")).alias(f"q{month}") for month in range(1, 13)]
    most = [F.max(F.expr(f"IF(month = {month}, l_extendedprice, 0)")).alias(f"p{month}") for month in range(1, 13)]
    show(items.groupBy("l_suppkey", "l_linenumber").agg(*sums, *most))
    spark.stop()


if __name__ == "__main__":
    main()
