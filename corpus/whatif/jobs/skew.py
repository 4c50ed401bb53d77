"""Two queries whose wide stage has one task that takes several times as long as the others."""

from common import wait_where
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from warm import start


def query(spark: SparkSession, milliseconds: int) -> int:
    """Of the rows after the shuffle, one in five is of the same key."""
    rows = spark.range(0, 1100, 1, 10).withColumn("w", wait_where("true", str(max(1, milliseconds // 4))))
    keys = rows.selectExpr("w", "id", "CASE WHEN id % 5 = 0 THEN 3 ELSE id % 311 END AS key")
    spread = keys.repartition(16, "key").withColumn("w2", wait_where("true", str(milliseconds)))
    return spread.agg(F.count("w"), F.count("w2")).collect()[0][0]


def main() -> None:
    spark = start(lambda s: query(s, 1))
    for _ in range(2):
        print(query(spark, 20), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
