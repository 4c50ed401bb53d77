"""Revenue of suppliers by nation and year, over five tables."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").select("l_orderkey", "l_partkey", "l_suppkey", "l_quantity", "l_extendedprice")
    orders = table(spark, "orders").select("o_orderkey", "o_orderdate")
    supplies = table(spark, "partsupp").select("ps_partkey", "ps_suppkey", "ps_supplycost")
    suppliers = table(spark, "supplier").select("s_suppkey", "s_nationkey")
    rows = items.join(supplies, F.expr("l_partkey = ps_partkey AND l_suppkey = ps_suppkey"))
    rows = rows.join(orders, F.expr("l_orderkey = o_orderkey")).join(suppliers, F.expr("l_suppkey = s_suppkey"))
    amount = F.sum(F.expr("l_extendedprice - ps_supplycost * l_quantity")).alias("amount")
    show(rows.groupBy("s_nationkey", F.year("o_orderdate").alias("year")).agg(amount))
    spark.stop()


if __name__ == "__main__":
    main()
