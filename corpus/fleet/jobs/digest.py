"""A page of fourteen small questions, asked one after the other."""

from common import session
from inputs import columnar_files
from pyspark.sql import functions as F
from tpch import show


def main() -> None:
    spark = session()
    items = spark.read.parquet(*columnar_files())
    for month in range(1, 13):
        chosen = items.filter(F.month("l_shipdate") == month)
        show(chosen.groupBy("l_shipmode").agg(F.sum("l_quantity"), F.max("l_extendedprice")))
    for flag in ("R", "A"):
        show(items.filter(F.col("l_returnflag") == flag).groupBy("l_suppkey").agg(F.avg("l_discount")))
    spark.stop()


if __name__ == "__main__":
    main()
