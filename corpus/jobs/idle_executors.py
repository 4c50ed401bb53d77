"""Four executors are held while one long task works for most of the run."""

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    rows = text(spark.range(0, 160_000, 1, 16))
    rows = rows.withColumn("w", wait_where("id % 1000 = 4", "100"))
    rows.groupBy((F.col("id") % 50).alias("k")).agg(F.count("w"), F.max("text")).collect()
    alone = text(spark.range(0, 60_000, 1, 1))
    alone = alone.withColumn("w", wait_where("id % 200 = 3", "150"))
    alone.agg(F.count("w"), F.max("text")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
