"""A model that is fitted in rounds: items in the cache, some looked up in a slow service, then a step on the driver."""

from common import session, wait_where
from inputs import columnar_files
from pyspark.sql import functions as F

ROUNDS = 5
STEPS = 1_500_000


def step(weight: float, slope: float) -> float:
    """Return the next weight; the driver computes for it alone."""
    for _ in range(STEPS):
        weight -= 1e-9 * (weight - slope)
    return weight


def main() -> None:
    spark = session()
    items = spark.read.parquet(*columnar_files()).select(
        F.col("l_quantity").cast("double").alias("x"), F.col("l_extendedprice").cast("double").alias("y"), "l_orderkey"
    )
    items = items.cache()
    weight = 0.0
    for number in range(ROUNDS):
        looked_up = items.withColumn("w", wait_where(f"pmod(xxhash64(l_orderkey, {number}), 250000) = 0", "100"))
        row = looked_up.agg(F.sum(F.expr(f"x * (y - {weight} * x)")), F.sum(F.expr("x * x")), F.count("w")).first()
        weight = step(weight, row[0] / row[1])
    print(weight, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
