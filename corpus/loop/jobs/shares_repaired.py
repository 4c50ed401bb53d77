"""The share of each item in the sales of its customer group, whose sums are taken first and joined."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 = 0")
    items = items.withColumn("group", F.expr("IF(l_orderkey % 10 < 6, 'none', CAST(l_suppkey % 500 AS STRING))"))
    items = items.select("group", "l_orderkey", "l_extendedprice", "l_shipdate", "l_comment")
    sums = items.groupBy("group").agg(F.sum("l_extendedprice").alias("whole"))
    rows = items.join(F.broadcast(sums), "group")
    show(rows.withColumn("share", F.col("l_extendedprice") / F.col("whole")).drop("whole"))
    spark.stop()


if __name__ == "__main__":
    main()
