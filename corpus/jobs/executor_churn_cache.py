"""A cached table is asked every ten seconds; its executors have been given back by then, and the blocks with them."""

import time

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    table = text(spark.range(0, 60_000, 1, 6)).withColumn("w", wait_where("id % 1000 = 1", "150"))
    table = table.cache()
    for asked in range(4):
        print(table.where(f"id % 7 = {asked}").agg(F.max("text"), F.count("w")).collect(), flush=True)
        time.sleep(9)
    spark.stop()


if __name__ == "__main__":
    main()
