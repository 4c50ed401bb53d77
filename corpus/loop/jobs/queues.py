"""Items of each supplier in the order of their delivery, numbered."""

from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    items = items.select("l_suppkey", "l_receiptdate", "l_orderkey", "l_extendedprice", "l_shipinstruct")
    window = Window.partitionBy("l_suppkey").orderBy("l_receiptdate", "l_orderkey")
    show(items.withColumn("number", F.row_number().over(window)).withColumn("next", F.lead("l_orderkey").over(window)))
    spark.stop()


if __name__ == "__main__":
    main()
