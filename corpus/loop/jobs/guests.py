"""Orders with their customers; seven of ten orders were made without an account, by customer 1."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").withColumn("customer", F.expr("IF(o_orderkey % 10 < 7, 1L, o_custkey)"))
    orders = orders.select("customer", "o_orderkey", "o_totalprice", "o_comment", "o_clerk", "o_orderpriority")
    customers = table(spark, "customer").select("c_custkey", "c_acctbal", "c_address", "c_comment")
    rows = orders.join(customers, F.expr("customer = c_custkey"))
    show(rows.withColumn("distance", F.expr("levenshtein(o_comment, c_comment)")).drop("o_comment", "c_comment"))
    spark.stop()


if __name__ == "__main__":
    main()
