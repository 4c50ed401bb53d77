"""A table partitioned by day, filtered by a Python function of the partition column: nothing is pruned."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType


def is_wanted(day: int) -> bool:
    """Choose two days of forty."""
    return day in (17, 18)


def main() -> None:
    spark = session()
    wanted = F.udf(is_wanted, BooleanType())
    for _ in range(2):
        events = spark.read.parquet(str(DATA / "events")).where(wanted("day"))
        events = events.withColumn("w", wait_where("id % 1000 = 1", "20"))
        print(events.agg(F.count("*"), F.max("text"), F.count("w")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
