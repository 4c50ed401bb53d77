"""Reads 1200 Parquet files of a few kilobytes, and 600 CSV files one per task."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for _ in range(4):
        notes = spark.read.parquet(str(DATA / "small-parquet"))
        notes.groupBy("key").agg(F.count("note"), F.max("id")).collect()
    lines = spark.sparkContext.textFile(str(DATA / "small-csv"))
    print(lines.map(len).sum())
    spark.stop()


if __name__ == "__main__":
    main()
