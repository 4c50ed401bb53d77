"""Items ranked within their part, and running sums within their supplier."""

from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").select("l_partkey", "l_suppkey", "l_extendedprice", "l_shipdate", "l_quantity")
    rank = F.row_number().over(Window.partitionBy("l_partkey").orderBy(F.desc("l_extendedprice"), "l_shipdate"))
    show(items.withColumn("rank", rank).filter("rank <= 3").select("l_partkey", "l_extendedprice", "rank"))
    running = F.sum("l_quantity").over(Window.partitionBy("l_suppkey").orderBy("l_shipdate", "l_partkey"))
    show(items.withColumn("running", running).select("l_suppkey", "running"))
    spark.stop()


if __name__ == "__main__":
    main()
