"""Items that are kept in memory for an operator, who reads each report before he asks for the next."""

import time

from pyspark.sql import functions as F
from tpch import show, start, table

READING_S = 6


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    kept = items.groupBy("l_partkey", "l_suppkey").agg(F.sum("l_extendedprice").alias("price"), F.count("*").alias("n"))
    kept = kept.persist()
    for column in ("l_suppkey", "l_partkey", "n"):
        show(kept.groupBy(column).agg(F.max("price")))
        time.sleep(READING_S)
    spark.stop()


if __name__ == "__main__":
    main()
