"""Deliveries with the addresses they go to; most go to one depot, which is customer 7."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 8 = 0")
    items = items.withColumn("place", F.expr("IF(l_linenumber > 1 OR l_quantity > 10, 7L, 1 + l_orderkey % 300000)"))
    items = items.select("place", "l_shipmode", F.concat_ws(", ", "l_shipinstruct", "l_comment").alias("note"))
    places = table(spark, "customer").select("c_custkey", "c_nationkey", "c_comment", "c_address")
    rows = items.join(places.hint("merge"), F.expr("place = c_custkey"))
    rows = rows.withColumn("likeness", F.levenshtein("note", "c_comment"))
    show(rows.select("place", "l_shipmode", "c_nationkey", "likeness", "c_address"))
    spark.stop()


if __name__ == "__main__":
    main()
