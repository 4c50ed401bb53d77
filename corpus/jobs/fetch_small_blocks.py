"""Shuffles of 250 x 48 small blocks, fetched one request at a time: the reducers wait for the network."""

from common import session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(3):
        rows = text(spark.range(seed, seed + 200_000, 1, 250)).repartition(48, "id")
        rows.agg(F.max("text"), F.count("*")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
