"""Items joined with their orders by sorting both, and how alike the two comments are."""

from common import session
from inputs import columnar_files
from pyspark.sql import functions as F
from tpch import show, table


def main() -> None:
    spark = session()
    items = spark.read.parquet(*columnar_files()).filter("l_linenumber <= 2")
    items = items.select("l_orderkey", "l_extendedprice", "l_comment")
    orders = table(spark, "orders").select("o_orderkey", "o_orderpriority", "o_comment")
    rows = items.join(orders.hint("merge"), F.expr("l_orderkey = o_orderkey"))
    rows = rows.withColumn("distance", F.expr("levenshtein(left(o_comment, 24), left(l_comment, 24))"))
    show(rows.groupBy("o_orderpriority", "distance").agg(F.sum("l_extendedprice"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
