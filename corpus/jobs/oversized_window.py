"""A window over eight groups of wide rows: each task holds a group of several hundred megabytes."""

from common import session, text
from pyspark.sql import Window
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    rows = text(spark.range(0, 12_000_000, 1, 16)).withColumn("more", F.sha2("text", 512))
    group = Window.partitionBy("part").orderBy("more")
    ranked = rows.withColumn("part", F.expr("id % 8")).withColumn("place", F.row_number().over(group))
    print(ranked.agg(F.max("place"), F.max("text")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
