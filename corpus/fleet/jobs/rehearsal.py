"""Items kept in memory, and questions between which the driver computes."""

from common import session
from inputs import columnar_files
from pyspark.sql import functions as F
from tpch import show

STEPS = 3_000_000


def think(start: float) -> float:
    """Return a number that the driver computes alone."""
    for number in range(STEPS):
        start = (start * 1.0000001 + number) % 1_000_003
    return start


def main() -> None:
    spark = session()
    items = spark.read.parquet(*columnar_files()).select("l_suppkey", "l_shipmode", "l_quantity", "l_extendedprice")
    items = items.filter("l_quantity > 5").persist()
    seed = 1.0
    for key in ("l_suppkey", "l_shipmode", "l_quantity", "l_suppkey"):
        show(items.groupBy(key).agg(F.sum("l_extendedprice"), F.count("*")))
        seed = think(seed)
    print(seed, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
