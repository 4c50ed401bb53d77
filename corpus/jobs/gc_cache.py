"""Rows cached as Java objects fill the old generation; queries then run in what is left."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    rows = spark.range(0, 2_000_000, 1, 8).selectExpr("id", "concat('value number ', id) AS word")
    cached = rows._jdf.toJavaRDD().cache()
    print(cached.count(), flush=True)
    for seed in range(6):
        print(cached.count(), flush=True)
        more = spark.range(seed, 1_200_000 + seed, 1, 8).selectExpr(
            "id % 4000 AS key", "concat('value ', id) AS word"
        )
        lists = more.groupBy("key").agg(F.collect_list("word").alias("words"))
        lists.selectExpr("size(array_sort(words)) AS n").agg(F.sum("n")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
