"""Nothing but processor time: hashes of hashes, then a small aggregate, three times."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import start


def hashes(spark: SparkSession, rows: int, tasks: int) -> int:
    column = F.expr("sha2(CAST(id AS STRING), 512)")
    for _ in range(7):
        column = F.sha2(column, 512)
    groups = spark.range(0, rows, 1, tasks).select(F.substring(column, 1, 2).alias("k"), (F.col("id") % 7).alias("n"))
    return groups.groupBy("k").agg(F.sum("n"), F.max("n")).collect()[0][1]


def main() -> None:
    spark = start(lambda s: hashes(s, 200_000, 16))
    for _ in range(3):
        print(hashes(spark, 800_000, 16), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
