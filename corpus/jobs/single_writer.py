"""coalesce(1) before a write: the whole computation runs in one task, to get one file."""

from common import DATA, session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(2):
        rows = text(spark.range(seed, 400_000 + seed, 1, 16))
        rows = rows.withColumn("w", wait_where("id % 1000 = 4", "50"))
        rows = rows.withColumn("w", F.coalesce("w", F.lit("")))
        rows.coalesce(1).write.mode("overwrite").parquet(str(DATA / "single-out" / str(seed)))
        rows.groupBy((F.col("id") % 50).alias("k")).agg(F.max("w"), F.max("text")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
