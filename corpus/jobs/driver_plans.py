"""Columns added one by one in a loop: the driver analyses ever larger plans, executors wait."""

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(3):
        rows = text(spark.range(seed, 80_000 + seed, 1, 8))
        rows = rows.withColumn("w", wait_where("id % 1000 = 9", "100"))
        for number in range(420):
            rows = rows.withColumn(f"c{number}", F.col("id") % (number + 2))
        sums = [F.sum(f"c{number}") for number in range(0, 420, 60)]
        print(rows.agg(F.count("w"), F.max("text"), *sums).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
