"""Dynamic allocation starts with one executor and takes 25 s for each step up."""

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    rows = text(spark.range(0, 480_000, 1, 48))
    rows = rows.withColumn("w", wait_where("id % 1000 = 4", "300"))
    rows.groupBy((F.col("id") % 50).alias("k")).agg(F.count("w"), F.max("text")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
