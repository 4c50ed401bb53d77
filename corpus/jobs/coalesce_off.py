"""Adaptive execution may not join partitions: two tables meet in six hundred partitions of a few rows."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for month in range(3):
        sales = spark.read.parquet(str(DATA / f"sales-{month}")).where("id % 50 = 3")
        days = sales.groupBy("day", "store").agg(F.sum("price").alias("value"))
        stores = sales.groupBy("store").agg(F.max("price").alias("most"))
        both = days.join(stores, "store").groupBy("day").agg(F.max("value"), F.max("most"))
        both.write.format("noop").mode("overwrite").save()
    spark.stop()


if __name__ == "__main__":
    main()
