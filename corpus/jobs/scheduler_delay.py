"""Short tasks while the driver gets a fifth of its processor: every task waits for it at both ends."""

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(4):
        rows = spark.range(seed * 12_000, seed * 12_000 + 12_000, 1, 120)
        rows = rows.select("id", wait_where("id % 50 = 3", "100").alias("w"))
        rows.agg(F.sum("id"), F.count("w")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
