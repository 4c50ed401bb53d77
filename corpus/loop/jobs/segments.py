"""Four questions to the same join, which each of them computes again."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").groupBy("l_orderkey").agg(F.sum("l_extendedprice").alias("price"))
    orders = table(spark, "orders").select("o_orderkey", "o_custkey", "o_orderdate", "o_orderpriority")
    rows = items.join(orders, F.expr("l_orderkey = o_orderkey"))
    for keys in (["o_orderpriority"], [F.year("o_orderdate").alias("year")], ["o_custkey"], ["o_orderdate"]):
        show(rows.groupBy(*keys).agg(F.sum("price"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
