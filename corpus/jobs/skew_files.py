"""Twelve gzipped CSV files, which cannot be split; one is as large as all others together."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    rows = spark.read.csv(str(DATA / "uneven-csv"), schema="id BIGINT, key INT, note STRING")
    rows = rows.withColumn("w", wait_where("id % 250 = 3", "12"))
    totals = rows.groupBy("key").agg(F.count("w"), F.max("note"), F.sum("id"))
    totals.write.format("noop").mode("overwrite").save()
    spark.stop()


if __name__ == "__main__":
    main()
