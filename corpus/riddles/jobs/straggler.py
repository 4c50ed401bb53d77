"""Straggler: the codes of orders are compared with a pattern. One task needs as long as all others together."""

from __future__ import annotations

from pyspark.sql import functions as F
from riddle import start

PATTERN = ".*.*.*=.*"
LENGTH = 180  # of a code
PARTITIONS, ORDERS = 24, 10_000  # orders of a partition
ODD = 20  # partition with codes that lack the "=": for these the pattern tries every way to split the code in three


def main(pattern: str = PATTERN) -> None:
    spark = start()
    orders = spark.range(0, PARTITIONS * ORDERS, 1, PARTITIONS)
    odd = f"id div {ORDERS} = {ODD} AND id % 500 = 7"
    code = f"CASE WHEN {odd} THEN repeat('k', {LENGTH}) ELSE concat(repeat('k', {LENGTH - 10}), '=', repeat('v', 9)) END"
    orders = orders.withColumn("code", F.expr(code))
    orders = orders.withColumn("seal", F.expr("sha2(repeat(CAST(id AS STRING), 4000), 512)"))
    valid = F.col("code").rlike(pattern)
    print(orders.agg(F.count_if(valid), F.max("seal")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
