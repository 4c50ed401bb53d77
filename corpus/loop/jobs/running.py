"""Items with the quantity that was delivered until their day."""

from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 < 2")
    items = items.select("l_orderkey", "l_receiptdate", "l_quantity", "l_shipmode")
    rows = items.withColumn("until", F.sum("l_quantity").over(Window.orderBy("l_receiptdate")))
    show(rows.withColumn("share", F.expr("l_quantity / until")))
    spark.stop()


if __name__ == "__main__":
    main()
