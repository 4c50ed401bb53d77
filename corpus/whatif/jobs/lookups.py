"""Twenty look-ups: small joins of a few customers with their orders and items."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").select("o_orderkey", "o_custkey", "o_totalprice", "o_orderdate")
    customers = table(spark, "customer").select("c_custkey", "c_name", "c_nationkey")
    for step in range(20):
        some = customers.filter(f"c_custkey % 1000 = {step}")
        joined = some.join(orders, F.expr("c_custkey = o_custkey")).groupBy("c_name").agg(F.sum("o_totalprice").alias("s"))
        show(joined)
    spark.stop()


if __name__ == "__main__":
    main()
