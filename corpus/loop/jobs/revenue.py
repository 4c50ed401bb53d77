"""Revenue of each part at each supplier."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem")
    amounts = items.groupBy("l_partkey", "l_suppkey").agg(F.sum("l_extendedprice").alias("price"), F.avg("l_discount"))
    show(amounts.groupBy("l_suppkey").agg(F.max("price"), F.count("*").alias("parts")))
    spark.stop()


if __name__ == "__main__":
    main()
