"""Prices and discounts of items by flag and status, and by month of delivery."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem")
    charge = F.expr("l_extendedprice * (1 - l_discount) * (1 + l_tax)")
    for keys in (["l_returnflag", "l_linestatus"], [F.trunc("l_receiptdate", "month").alias("month"), "l_shipmode"]):
        show(items.groupBy(*keys).agg(F.sum(charge), F.avg("l_discount"), F.count("*"), F.max("l_comment")))
    spark.stop()


if __name__ == "__main__":
    main()
