"""Orders by nation of the customer and year."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").select("o_custkey", "o_orderdate", "o_totalprice")
    customers = table(spark, "customer").filter("c_mktsegment = 'BUILDING'").select("c_custkey", "c_nationkey")
    rows = orders.join(customers, F.expr("o_custkey = c_custkey"))
    show(rows.groupBy("c_nationkey", F.year("o_orderdate").alias("year")).agg(F.sum("o_totalprice"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
