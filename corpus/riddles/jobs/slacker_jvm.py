"""Slacker without Python functions: the waiting is in the executor's JVM."""

from __future__ import annotations

from common import wait_where
from pyspark.sql import functions as F
from riddle import start

ORDERS, PARTITIONS = 1_600, 16


def main(every: int = 1) -> None:
    spark = start()
    orders = spark.range(0, ORDERS, 1, PARTITIONS)
    prices = orders.withColumn("answer", wait_where(f"id % {every} = 0", "50"))
    print(prices.agg(F.count("answer"), F.sum(F.expr("id * 31 % 97"))).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
