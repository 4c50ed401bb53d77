"""Seven reports about the same items, which are read once and kept."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_comment LIKE '%final%' AND l_quantity > 25")
    items = items.cache()
    for key in ("l_shipmode", "l_suppkey", "l_shipdate", "l_shipinstruct", "l_receiptdate", "l_partkey", "l_tax"):
        totals = items.groupBy(key).agg(F.sum("l_extendedprice").alias("price"), F.max("l_comment"), F.count("*"))
        show(totals)
    items.unpersist()
    spark.stop()


if __name__ == "__main__":
    main()
