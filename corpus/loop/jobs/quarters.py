"""Quarterly reports: orders by clerk, deliveries by mode, and stock by supplier."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").withColumn("quarter", F.trunc("o_orderdate", "quarter"))
    clerks = orders.groupBy("o_clerk", "quarter").agg(F.sum("o_totalprice").alias("price"))
    show(clerks.groupBy("quarter").agg(F.max("price"), F.avg("price")))
    items = table(spark, "lineitem").withColumn("quarter", F.trunc("l_shipdate", "quarter"))
    show(items.groupBy("l_shipmode", "quarter").agg(F.sum("l_quantity"), F.count("*")))
    stock = table(spark, "partsupp").groupBy("ps_suppkey")
    stock = stock.agg(F.sum("ps_availqty").alias("stock"), F.max("ps_supplycost"))
    show(stock.groupBy((F.col("stock") / 10000).cast("int").alias("class")).agg(F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
