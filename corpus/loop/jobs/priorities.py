"""Late orders by priority."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_commitdate < l_receiptdate")
    late = items.groupBy("l_orderkey").agg(F.count("*").alias("items"), F.max("l_receiptdate").alias("last"))
    orders = table(spark, "orders").select("o_orderkey", "o_orderpriority", "o_orderdate")
    rows = late.join(orders.hint("merge"), F.expr("l_orderkey = o_orderkey"))
    show(rows.groupBy("o_orderpriority", F.year("o_orderdate").alias("year")).agg(F.sum("items"), F.max("last")))
    spark.stop()


if __name__ == "__main__":
    main()
