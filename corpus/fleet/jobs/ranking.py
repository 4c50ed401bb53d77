"""Items ranked within their part, and what their suppliers sold by month."""

from common import session
from inputs import columnar_files
from pyspark.sql import Window
from pyspark.sql import functions as F
from tpch import show


def main() -> None:
    spark = session()
    items = spark.read.parquet(*columnar_files())
    items = items.select("l_partkey", "l_suppkey", "l_extendedprice", "l_shipdate", "l_quantity", "l_comment")
    rank = F.row_number().over(Window.partitionBy("l_partkey").orderBy(F.desc("l_extendedprice"), "l_shipdate"))
    show(items.withColumn("rank", rank).filter("rank <= 3"))
    months = items.groupBy("l_suppkey", F.trunc("l_shipdate", "month").alias("month"))
    show(months.agg(F.sum("l_quantity"), F.max("l_extendedprice")))
    spark.stop()


if __name__ == "__main__":
    main()
