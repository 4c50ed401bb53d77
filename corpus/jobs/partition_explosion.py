"""partitionBy without a repartition: each of 12 tasks opens a file for each of 75 days."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for month in range(2):
        sales = spark.read.parquet(str(DATA / f"sales-{month}")).where("id % 4 = 1")
        sales = sales.withColumn("day", F.col("id") % 150)
        target = str(DATA / "by-day" / str(month))
        sales.write.mode("overwrite").partitionBy("day").parquet(target)
    spark.stop()


if __name__ == "__main__":
    main()
