"""Ranks and running sums over many customers: window functions whose partitions are small and even."""

from common import DATA, session, wait_where
from pyspark.sql import Window
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for month in range(3):
        sales = spark.read.parquet(str(DATA / f"sales-{month}")).drop("text")
        by_day = Window.partitionBy("customer").orderBy("day", "id")
        ranked = sales.withColumn("rank", F.row_number().over(by_day)).withColumn(
            "before", F.lag("price").over(by_day)
        )
        ranked = ranked.withColumn("w", wait_where("customer % 64 = 1 AND rank % 8 = 1", "11"))
        best = ranked.where("rank < 60").agg(F.sum("before"), F.max("rank"), F.count("w"))
        print(best.collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
