"""Prices and discounts of items by mode and month, from files of text."""

from pyspark.sql import functions as F
from tpch import TABLES, show, start

SCHEMA = """
    l_orderkey LONG, l_partkey LONG, l_suppkey LONG, l_linenumber INT, l_quantity DOUBLE, l_extendedprice DOUBLE,
    l_discount DOUBLE, l_tax DOUBLE, l_returnflag STRING, l_linestatus STRING, l_shipdate STRING, l_commitdate STRING,
    l_receiptdate STRING, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING
"""


def main() -> None:
    spark = start()
    items = spark.read.csv(str(TABLES / "csv" / "lineitem" / "lineitem.[1-3].csv"), schema=SCHEMA, header=True)
    items = items.withColumn("month", F.substring("l_shipdate", 1, 7))
    show(items.groupBy("l_shipmode", "month").agg(F.sum("l_extendedprice"), F.avg("l_discount"), F.max("l_quantity")))
    spark.stop()


if __name__ == "__main__":
    main()
