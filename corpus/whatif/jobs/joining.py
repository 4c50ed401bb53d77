"""Items of orders with their orders and customers."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").select("l_orderkey", "l_extendedprice", "l_discount", "l_shipdate")
    orders = table(spark, "orders").select("o_orderkey", "o_custkey", "o_orderdate", "o_orderpriority")
    customers = table(spark, "customer").select("c_custkey", "c_nationkey", "c_mktsegment")
    joined = items.join(orders, F.expr("l_orderkey = o_orderkey")).join(customers, F.expr("o_custkey = c_custkey"))
    revenue = F.sum(F.expr("l_extendedprice * (1 - l_discount)")).alias("revenue")
    show(joined.groupBy("c_nationkey", "o_orderpriority").agg(revenue))
    show(joined.filter("l_shipdate > o_orderdate").groupBy("c_custkey", "c_mktsegment").agg(revenue, F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
