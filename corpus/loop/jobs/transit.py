"""Items that are on their way, by day and mode."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    days = F.explode(F.sequence("l_shipdate", "l_receiptdate"))
    rows = items.select("l_shipmode", "l_quantity", days.alias("day"))
    show(rows.groupBy("day", "l_shipmode").agg(F.count("*").alias("items"), F.sum("l_quantity").alias("quantity")))
    spark.stop()


if __name__ == "__main__":
    main()
