"""Quantities by nation of the supplier and month of delivery."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").select("l_suppkey", "l_receiptdate", "l_quantity", "l_extendedprice", "l_shipmode")
    suppliers = table(spark, "supplier").select("s_suppkey", "s_nationkey", "s_acctbal")
    rows = items.join(suppliers, F.expr("l_suppkey = s_suppkey")).withColumn("month", F.trunc("l_receiptdate", "month"))
    show(rows.groupBy("s_nationkey", "month").agg(F.sum("l_quantity"), F.avg("l_extendedprice"), F.max("s_acctbal")))
    spark.stop()


if __name__ == "__main__":
    main()
