"""Two aggregates of all items of orders: by few keys, and by as many as there are orders."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem")
    revenue = F.sum(F.expr("l_extendedprice * (1 - l_discount)")).alias("revenue")
    show(items.groupBy("l_returnflag", "l_linestatus").agg(revenue, F.avg("l_quantity"), F.count("*").alias("n")))
    show(items.groupBy("l_suppkey", "l_shipmode").agg(revenue, F.max("l_shipdate").alias("last")))
    show(items.groupBy("l_orderkey").agg(revenue, F.sum("l_quantity").alias("quantity")).filter("quantity > 100"))
    spark.stop()


if __name__ == "__main__":
    main()
