"""Porter: whole rows of many columns are carried to Python, for a function that looks at one of them."""

from __future__ import annotations

from pyspark import Row
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from riddle import start

ORDERS, PARTITIONS, COLUMNS = 700_000, 8, 40


def amount_of(order: Row) -> int:
    """Return the amount that an order counts with."""
    return order.amount if order.amount % 7 else 0


def orders_of(spark: object) -> DataFrame:
    """Return orders with many columns."""
    rows = spark.range(0, ORDERS, 1, PARTITIONS)  # type: ignore[attr-defined]
    others = [F.expr(f"concat('field {column} of ', id)").alias(f"field_{column}") for column in range(COLUMNS)]
    return rows.select("id", F.expr("id * 31 % 1009").alias("amount"), *others)


def main() -> None:
    spark = start()
    print(orders_of(spark).rdd.map(amount_of).sum(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
