"""Events are looked up in three thousand ranges by BETWEEN, one range after the other for each event."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    ranges = spark.range(0, 3000, 1, 1).selectExpr(
        "id AS range", "id * 1000 + hash(id) % 400 AS low", "id * 1000 + 700 AS high"
    )
    for seed in range(2):
        events = spark.range(seed, 800_000 + seed, 1, 16).selectExpr("id", "pmod(hash(id), 3000000) AS at")
        found = events.join(F.broadcast(ranges), F.expr("at BETWEEN low AND high"))
        counts = found.groupBy("range").agg(F.count("*").alias("n"))
        print(counts.orderBy(F.desc("n")).limit(3).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
