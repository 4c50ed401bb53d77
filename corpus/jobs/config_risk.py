"""Balanced work on settings that leave no second try: see its row in planted/memory.py."""

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(5):
        rows = text(spark.range(seed, 96_000 + seed, 1, 24)).withColumn(
            "w", wait_where("id % 400 = 1", "150")
        )
        grouped = rows.groupBy(F.expr("id % 4000")).agg(F.max("text"), F.count("w").alias("n"))
        print(grouped.agg(F.sum("n")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
