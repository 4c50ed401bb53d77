"""Orders with their customers, where a quarter of the orders is of one customer."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").withColumn("key", F.expr("IF(o_orderkey % 4 = 0, 1L, o_custkey)"))
    orders = orders.select("key", "o_orderkey", "o_totalprice", "o_comment", "o_clerk")
    customers = table(spark, "customer").select("c_custkey", "c_acctbal", "c_phone", "c_comment")
    joined = orders.join(customers, F.expr("key = c_custkey"))
    show(joined.withColumn("d", F.expr("levenshtein(o_comment, c_comment)")).select("o_orderkey", "d", "c_phone"))
    spark.stop()


if __name__ == "__main__":
    main()
