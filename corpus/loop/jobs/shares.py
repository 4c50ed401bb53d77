"""The share of each item in the sales of its customer group; most items belong to one group."""

from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 = 0")
    items = items.withColumn("group", F.expr("IF(l_orderkey % 10 < 6, 'none', CAST(l_suppkey % 500 AS STRING))"))
    items = items.select("group", "l_orderkey", "l_extendedprice", "l_shipdate", "l_comment")
    whole = Window.partitionBy("group")
    show(items.withColumn("share", F.col("l_extendedprice") / F.sum("l_extendedprice").over(whole)))
    spark.stop()


if __name__ == "__main__":
    main()
