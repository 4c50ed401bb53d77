"""Items that are kept in memory, and how far their comments are from a few phrases."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 5 = 0").select("l_orderkey", "l_shipmode", "l_comment")
    items = items.persist()
    print(items.count(), flush=True)
    for phrase in ("carefully final deposits", "quickly bold requests", "furiously even ideas"):
        near = items.withColumn("distance", F.levenshtein("l_comment", F.lit(phrase)))
        show(near.groupBy("l_shipmode").agg(F.min("distance"), F.avg("distance")))
    spark.stop()


if __name__ == "__main__":
    main()
