"""Writes to a store that takes 700 KB a second from each task."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sales = spark.read.parquet(str(DATA / "sales-0")).where("id % 3 = 1")
    sales = sales.withColumn("value", F.col("price") * F.col("quantity"))
    sales.write.mode("overwrite").csv(f"store://{DATA}/slow-out")
    spark.stop()


if __name__ == "__main__":
    main()
