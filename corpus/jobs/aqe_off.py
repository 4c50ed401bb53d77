"""Adaptive execution is off and two hundred shuffle partitions hold a few kilobytes each, query after query."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    customers = spark.read.parquet(str(DATA / "customers"))
    for column in ("nation", "segment", "nation", "segment"):
        groups = customers.groupBy(column, F.expr("customer % 50").alias("part")).agg(F.count("*").alias("n"))
        print(groups.groupBy(column).agg(F.max("n")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
