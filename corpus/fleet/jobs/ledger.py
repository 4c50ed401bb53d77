"""Charges by month and flag, and the largest items of each way to ship, from text."""

from common import session
from inputs import SCHEMA, text_files
from pyspark.sql import functions as F
from tpch import show


def main() -> None:
    spark = session()
    items = spark.read.csv(text_files(), schema=SCHEMA, header=True)
    charge = F.expr("l_extendedprice * (1 - l_discount) * (1 + l_tax)")
    show(items.groupBy(F.substring("l_shipdate", 1, 7).alias("month"), "l_returnflag").agg(F.sum(charge), F.count("*")))
    show(items.groupBy("l_shipmode", "l_shipinstruct").agg(F.max(F.struct("l_extendedprice", "l_orderkey", "l_comment"))))
    spark.stop()


if __name__ == "__main__":
    main()
