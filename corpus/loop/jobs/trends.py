"""Each item beside those before it: of the same part by price, and of the same supplier by date."""

from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    items = items.select("l_orderkey", "l_partkey", "l_suppkey", "l_extendedprice", "l_shipdate", "l_quantity")
    prices = Window.partitionBy("l_partkey").orderBy("l_extendedprice", "l_orderkey")
    show(items.withColumn("step", F.expr("l_extendedprice") - F.lag("l_extendedprice").over(prices)).drop("l_shipdate"))
    dates = Window.partitionBy("l_suppkey").orderBy("l_shipdate", "l_orderkey").rowsBetween(-9, 0)
    show(items.withColumn("recent", F.avg("l_quantity").over(dates)).drop("l_partkey"))
    spark.stop()


if __name__ == "__main__":
    main()
