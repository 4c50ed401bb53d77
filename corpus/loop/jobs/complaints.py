"""Seven reports about the same items, each of which reads the table and looks for them again."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_comment LIKE '%final%' AND l_quantity > 25")
    for key in ("l_shipmode", "l_suppkey", "l_shipdate", "l_shipinstruct", "l_receiptdate", "l_partkey", "l_tax"):
        totals = items.groupBy(key).agg(F.sum("l_extendedprice").alias("price"), F.max("l_comment"), F.count("*"))
        show(totals)
    spark.stop()


if __name__ == "__main__":
    main()
