"""Fourteen million rows of text sorted in six partitions: each task sorts several hundred megabytes."""

from common import session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    rows = text(spark.range(0, 14_000_000, 1, 24)).repartition(6, "id")
    ordered = rows.sortWithinPartitions("text")
    print(ordered.agg(F.max("text"), F.count("*")).collect(), flush=True)
    ordered.groupBy(F.expr("id % 7")).agg(F.first("text")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
