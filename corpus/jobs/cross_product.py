"""Every row of one table is compared with every row of another: the join has no equality."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(2):
        left = spark.range(seed, 15_000 + seed, 1, 4).selectExpr("id", "pmod(hash(id), 1000000) AS a")
        right = spark.range(0, 16_000, 1, 4).selectExpr("id AS other", "pmod(hash(id, 1), 1000000) AS b")
        pairs = left.join(right, F.expr("abs(a - b) < 3"))
        print(pairs.agg(F.count("id"), F.max("other")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
