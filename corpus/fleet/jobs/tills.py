"""What each supplier sold by month and way to ship, side by side: two wide tables."""

from common import session
from inputs import columnar_files
from pyspark.sql import functions as F
from tpch import show


def main() -> None:
    spark = session()
    items = spark.read.parquet(*columnar_files())
    items = items.select("l_suppkey", "l_shipdate", "l_shipmode", "l_quantity", "l_extendedprice")
    months = [F.sum(F.expr(f"IF(month(l_shipdate) = {n}, l_quantity, 0)")).alias(f"m{n}") for n in range(1, 13)]
    show(items.groupBy("l_suppkey").agg(*months))
    modes = [F.max(F.expr(f"IF(l_shipmode = '{mode}', l_extendedprice, 0)")).alias(mode) for mode in ("AIR", "RAIL", "SHIP")]
    show(items.groupBy("l_shipdate", (F.col("l_suppkey") % 50).alias("group")).agg(*modes, *months))
    spark.stop()


if __name__ == "__main__":
    main()
