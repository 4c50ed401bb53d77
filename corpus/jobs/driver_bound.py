"""Short jobs with long single-threaded Python loops on the driver between them."""

import time

from common import session, text, wait_where
from pyspark.sql import functions as F


def chew(rows: list, wait_s: float) -> int:
    """Go over collected rows slowly, as a per-row call to a service would."""
    total = 0
    for number, row in enumerate(rows):
        total += len(row["text"]) % 7
        if number % 200 == 0:
            time.sleep(wait_s)
    return total


def main() -> None:
    spark = session()
    wait_s = float(spark.conf.get("spark.corpus.wait", "0.06"))
    for round_ in range(6):
        rows = text(spark.range(round_, 240_000 + round_, 1, 8))
        rows = rows.withColumn("w", wait_where("id % 3000 = 9", "100"))
        sample = rows.groupBy((F.col("id") % 20_000).alias("key")).agg(
            F.count("w"), F.max("text").alias("text")
        )
        print(chew(sample.collect(), wait_s), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
