"""Sixteen small files summarized one after the other, each by a job of two tasks, on four slots."""

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for day in range(16):
        rows = spark.range(day * 1000, day * 1000 + 200, 1, 2)
        rows = rows.select("id", wait_where("id % 10 = 3", "160").alias("w"))
        print(day, rows.agg(F.sum("id"), F.count("w")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
