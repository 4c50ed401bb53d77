"""Dynamic allocation lets every executor go and is slow to ask for new ones."""

import time

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for round_ in range(3):
        rows = text(spark.range(round_, 160_000 + round_, 1, 8))
        rows = rows.withColumn("w", wait_where("id % 1000 = 4", "60"))
        rows.agg(F.count("w"), F.max("text")).collect()
        if round_ < 2:
            time.sleep(5)
    spark.stop()


if __name__ == "__main__":
    main()
