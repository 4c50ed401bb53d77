"""Map tasks that wait for the disk: every shuffle file is synchronized, 150 for each task."""

from common import session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(3):
        rows = text(spark.range(seed, seed + 900_000, 1, 24)).repartition(150, "id")
        rows.groupBy(F.expr("id % 5")).agg(F.max("text")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
