"""A table cached on the first executor only; its queries wait ten seconds each before they use the second."""

import time

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sc = spark.sparkContext
    rows = text(spark.range(0, 240_000, 1, 16)).persist()
    print(rows.count(), flush=True)
    sc._jsc.sc().requestExecutors(1)
    time.sleep(12)
    for _ in range(4):
        slow = wait_where("id % 1000 = 5", "100")
        rows.select("text", slow.alias("w")).agg(F.max("text"), F.count("w")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
