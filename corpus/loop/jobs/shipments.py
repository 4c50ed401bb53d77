"""The items of each order, sorted by their delivery, with the running quantity."""

from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").select("l_suppkey", "l_receiptdate", "l_quantity", "l_extendedprice", "l_comment")
    window = Window.partitionBy("l_suppkey").orderBy("l_receiptdate")
    show(items.withColumn("total", F.sum("l_quantity").over(window)).filter("total > 100"))
    spark.stop()


if __name__ == "__main__":
    main()
