"""Reports that an operator asks for, one after the other: he reads each before he asks for the next."""

import time

from pyspark.sql import functions as F
from tpch import show, start, table

READING_S = 4


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 4 = 0")
    for mode in ("AIR", "RAIL", "SHIP", "TRUCK"):
        chosen = items.filter(F.col("l_shipmode") == mode)
        show(chosen.groupBy("l_suppkey").agg(F.sum("l_quantity"), F.countDistinct("l_partkey")))
        time.sleep(READING_S)
    spark.stop()


if __name__ == "__main__":
    main()
