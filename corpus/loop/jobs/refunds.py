"""Returned items with their orders, joined by sorting both."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_returnflag <> 'N'").select("l_orderkey", "l_extendedprice", "l_comment")
    orders = table(spark, "orders").select("o_orderkey", "o_custkey", "o_clerk", "o_comment")
    rows = items.join(orders.hint("merge"), F.expr("l_orderkey = o_orderkey"))
    show(rows.drop("o_orderkey"))
    spark.stop()


if __name__ == "__main__":
    main()
