"""The application behind the logs of garbage collectors: objects that die young, and some that stay for a while."""

from pyspark import StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    """Sort texts by shuffle and keep a part of them on the heap."""
    spark = SparkSession.builder.getOrCreate()
    texts = spark.range(0, 250_000, 1, 8).select("id", F.sha2(F.col("id").cast("string"), 512).alias("text"))
    kept = texts.filter("id % 3 = 0").persist(StorageLevel.MEMORY_ONLY)
    kept.count()
    for _ in range(3):
        print(texts.join(kept, "text").groupBy(F.substring("text", 1, 3)).count().agg(F.sum("count")).collect())


if __name__ == "__main__":
    main()
