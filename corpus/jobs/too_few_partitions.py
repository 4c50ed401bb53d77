"""Plenty of rows squeezed into two partitions on four slots."""

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    partitions = int(spark.conf.get("spark.corpus.partitions", "2"))
    for seed in range(2):
        rows = text(spark.range(seed, 1_000_000 + seed, 1, 8)).repartition(partitions, "id")
        rows = rows.withColumn("w", wait_where("id % 5000 = 6", "120"))
        rows.agg(F.count("w"), F.max("text"), F.sum(F.length("text"))).collect()
    spark.stop()


if __name__ == "__main__":
    main()
