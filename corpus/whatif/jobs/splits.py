"""Scans of the items of orders as text, and as columns."""

from pyspark.sql import functions as F
from tpch import lines_csv, show, start, table


def main() -> None:
    spark = start()
    rows = spark.read.csv(lines_csv(), header=True, schema=table(spark, "lineitem").schema)
    show(rows.filter("l_quantity > 20").groupBy("l_shipmode").agg(F.avg("l_extendedprice"), F.max("l_comment")))
    show(table(spark, "lineitem").filter("l_discount > 0.05").groupBy("l_returnflag").agg(F.sum("l_tax")))
    spark.stop()


if __name__ == "__main__":
    main()
