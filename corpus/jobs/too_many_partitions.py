"""A few megabytes cut into thousands of shuffle partitions of a few rows each."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    rows = spark.range(0, 60_000, 1, 8).selectExpr("id % 5003 AS key", "id")
    rows.groupBy("key").agg(F.sum("id")).write.format("noop").mode("overwrite").save()
    spark.stop()


if __name__ == "__main__":
    main()
