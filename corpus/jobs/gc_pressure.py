"""Millions of small live objects in a small heap with a tiny young generation."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(6):
        rows = spark.range(seed, 2_000_000 + seed, 1, 4).selectExpr(
            "id % 96 AS key", "concat('value ', id) AS word"
        )
        lists = rows.groupBy("key").agg(F.collect_list("word").alias("words"))
        lists.selectExpr(
            "key", "size(array_sort(transform(words, w -> concat(w, ' ', upper(w))))) AS n"
        ).agg(F.sum("n")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
