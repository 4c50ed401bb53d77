"""Work in five bursts; executors are given back three seconds after each and started again for the next."""

import time

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for burst in range(5):
        rows = spark.range(burst, 24_000 + burst, 1, 8).withColumn(
            "w", wait_where("id % 300 = 1", "80")
        )
        print(rows.agg(F.count("w")).collect(), flush=True)
        time.sleep(7)
    spark.stop()


if __name__ == "__main__":
    main()
