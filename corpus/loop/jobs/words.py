"""The different words in comments of items, by group of parts."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    for first in (0, 1):
        items = table(spark, "lineitem").filter(f"l_orderkey % 4 = {first}")
        items = items.withColumn("class", F.expr("l_partkey % 10"))
        lists = items.groupBy("class").agg(F.collect_list("l_comment").alias("comments"))
        words = F.expr("array_distinct(flatten(transform(comments, c -> split(upper(c), ' '))))")
        show(lists.select("class", F.size(words).alias("words"), F.size("comments").alias("comments")))
    spark.stop()


if __name__ == "__main__":
    main()
