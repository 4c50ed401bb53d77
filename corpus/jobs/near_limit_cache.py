"""Plain Java objects cached until storage memory is full, with next to no heap beside it."""

from common import session, text, wait_where
from pyspark import StorageLevel
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sc = spark.sparkContext
    words = text(spark.range(0, 1_200_000, 1, 8), 256).selectExpr("id % 1000 AS key", "text")
    java = words._jdf.toJavaRDD().persist(sc._getJavaStorageLevel(StorageLevel.MEMORY_ONLY))
    for round_ in range(5):
        print(round_, java.count(), flush=True)
        beside = text(spark.range(0, 160_000, 1, 8)).withColumn(
            "w", wait_where("id % 5000 = 1", "100")
        )
        beside.groupBy(F.expr("id % 50000")).agg(F.max("text"), F.count("w")).agg(
            F.count("*")
        ).collect()
    spark.stop()


if __name__ == "__main__":
    main()
