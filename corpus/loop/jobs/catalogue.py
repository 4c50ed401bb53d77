"""Items with the names of their parts; nine of ten items have no part number, which is written as part 1."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 6 = 0")
    items = items.withColumn("part", F.expr("IF(l_orderkey % 20 < 18, 1L, l_partkey)"))
    items = items.select("part", F.concat_ws(" ", "l_shipinstruct", "l_comment").alias("note"), "l_quantity")
    title = F.concat_ws(" ", "p_name", "p_type").alias("title")
    parts = table(spark, "part").select("p_partkey", "p_retailprice", title)
    rows = items.join(parts.hint("merge"), F.expr("part = p_partkey"))
    show(rows.select("part", "l_quantity", "p_retailprice", F.levenshtein("note", "title").alias("distance")))
    spark.stop()


if __name__ == "__main__":
    main()
