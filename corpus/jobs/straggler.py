"""Balanced partitions, one of which waits for 24 s without more data."""

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    rows = text(spark.range(0, 240_000, 1, 24)).repartition(24, "id")
    rows = rows.withColumn("part", F.spark_partition_id())
    rows = rows.withColumn("row", F.expr("monotonically_increasing_id() & 4294967295"))
    # a few short waits everywhere, and one long one in partition 9
    usual = wait_where("row % 1000 = 5", "120")
    late = wait_where("part = 9 AND row = 2000", spark.conf.get("spark.corpus.late", "24000"))
    for _ in range(2):
        rows.select("text", usual.alias("usual"), late.alias("late")).agg(
            F.count("usual"), F.count("late"), F.max("text")
        ).collect()
    spark.stop()


if __name__ == "__main__":
    main()
