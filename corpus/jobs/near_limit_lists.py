"""Lists that just fit into a small heap: they live long, and full collections free almost nothing."""

from common import session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(5):
        words = text(spark.range(seed, 1_000_000 + seed, 1, 4))
        pages = words.selectExpr("id % 96 AS chapter", "repeat(text, 8) AS page")
        lists = pages.groupBy("chapter").agg(F.collect_list("page").alias("all"))
        print(lists.agg(F.sum(F.size("all"))).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
