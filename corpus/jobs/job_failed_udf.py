"""A Python function meets a price without a number; the last of three steps fails of it, and the application."""

import time

from common import session
from pyspark.sql import functions as F


def price_of(text: str) -> float:
    """Parse "12.50 EUR"."""
    return float(text.split(" ")[0])


def main() -> None:
    spark = session()
    price = F.udf(price_of, "double")
    for step in range(3):
        bad = "id = 31000" if step == 2 else "false"
        lines = spark.range(0, 60_000, 1, 12).selectExpr(
            "id", f"CASE WHEN {bad} THEN 'on request' ELSE concat(id % 90, '.50 EUR') END AS line"
        )
        slow = lines.rdd.mapPartitions(lambda rows: (time.sleep(1), *rows)[1:]).toDF(lines.schema)
        print(slow.agg(F.sum(price("line"))).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
