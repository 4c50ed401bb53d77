"""Items with orders, where a fifth of the items is of one order, sorted in little memory."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    items = items.withColumn("key", F.expr("IF(l_partkey % 5 = 0, 2L, l_orderkey)"))
    items = items.select("key", "l_partkey", "l_quantity", "l_extendedprice", "l_comment")
    orders = table(spark, "orders").select("o_orderkey", "o_orderdate", "o_clerk")
    joined = items.join(orders, F.expr("key = o_orderkey"))
    show(joined.select("key", "l_partkey", "l_quantity", "l_comment", "o_clerk"))
    spark.stop()


if __name__ == "__main__":
    main()
