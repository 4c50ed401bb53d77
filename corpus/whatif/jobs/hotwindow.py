"""Ranks of items in windows, of which one holds a sixth of all rows."""

from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 = 0")
    items = items.withColumn("key", F.expr("IF(l_partkey % 6 = 0, 1L, l_suppkey)"))
    items = items.select("key", "l_extendedprice", "l_shipdate", "l_comment")
    window = Window.partitionBy("key").orderBy("l_shipdate", "l_extendedprice")
    ranked = items.withColumn("rank", F.row_number().over(window)).withColumn("before", F.lag("l_comment").over(window))
    show(ranked.select("key", "rank", "before"))
    spark.stop()


if __name__ == "__main__":
    main()
