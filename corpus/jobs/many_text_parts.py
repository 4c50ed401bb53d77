"""Saves a small result as 700 pieces of text, and a table as 500 small JSON files."""

import shutil

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sales = spark.read.parquet(str(DATA / "sales-0"))
    totals = sales.groupBy("customer").agg(F.sum("price").alias("value"), F.max("text"))
    totals.repartition(500).write.mode("overwrite").json(str(DATA / "totals-json"))
    lines = totals.rdd.map(lambda row: f"{row[0]};{row[1]};{row[2]}")
    folder = DATA / "totals-text"
    shutil.rmtree(folder, ignore_errors=True)
    lines.repartition(700).saveAsTextFile(str(folder))
    spark.stop()


if __name__ == "__main__":
    main()
