"""Charges of items by mode and month of delivery, and by supplier."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem")
    charge = F.expr("l_extendedprice * (1 - l_discount) * (1 + l_tax)")
    for keys in (["l_shipmode", F.trunc("l_receiptdate", "month").alias("month")], ["l_suppkey"]):
        show(items.groupBy(*keys).agg(F.sum(charge), F.avg("l_discount"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
