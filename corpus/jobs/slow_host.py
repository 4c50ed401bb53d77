"""Four stages of even CPU work on three hosts, one of which gets less than half of its processor."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    heavy = "CAST(id AS STRING)"
    for _ in range(10):
        heavy = f"sha2({heavy}, 512)"
    for seed in range(4):
        rows = spark.range(seed, seed + 1_500_000, 1, 24)
        rows.select(F.expr(heavy).alias("h")).agg(F.max("h")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
