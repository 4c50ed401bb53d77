"""Plain Java objects cached until storage memory is full, and lists that just fit in addition."""

from common import session, text
from pyspark import StorageLevel
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sc = spark.sparkContext
    words = text(spark.range(0, 1_200_000, 1, 8), 256).selectExpr("id % 1000 AS key", "text")
    java = words._jdf.toJavaRDD().persist(sc._getJavaStorageLevel(StorageLevel.MEMORY_ONLY))
    for round_ in range(7):
        print(round_, java.count(), flush=True)
        pages = text(spark.range(round_, 760_000 + round_, 1, 8)).selectExpr(
            "id % 96 AS chapter", "repeat(text, 8) AS page"
        )
        lists = pages.groupBy("chapter").agg(F.collect_list("page").alias("all"))
        print(lists.agg(F.sum(F.size("all"))).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
