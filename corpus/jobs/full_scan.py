"""A table partitioned by day, asked for one day by its timestamp: all forty days are read."""

from common import DATA, session
from pyspark.sql import functions as F

DAYS = ("01-06", "01-09", "01-18", "01-21", "01-27", "02-05", "02-11", "02-20")


def main() -> None:
    spark = session()
    for day in DAYS:
        events = spark.read.parquet(str(DATA / "events"))
        found = events.where(F.to_date("at") == f"2024-{day}")
        top = found.groupBy("customer").agg(F.count("*").alias("n"), F.max("text"))
        print(top.orderBy(F.desc("n")).take(3), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
