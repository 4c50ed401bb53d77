"""Items with the quantity that was delivered until their day, which is added up from the sums of days."""

from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 < 2")
    items = items.select("l_orderkey", "l_receiptdate", "l_quantity", "l_shipmode")
    days = items.groupBy("l_receiptdate").agg(F.sum("l_quantity").alias("quantity"))
    until = F.sum("quantity").over(Window.orderBy("l_receiptdate")).cast("decimal(25,2)")
    until = days.select("l_receiptdate", until.alias("until"))
    rows = items.join(until, "l_receiptdate").select("l_orderkey", "l_receiptdate", "l_quantity", "l_shipmode", "until")
    show(rows.withColumn("share", F.expr("l_quantity / until")))
    spark.stop()


if __name__ == "__main__":
    main()
