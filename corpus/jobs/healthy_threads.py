"""Forty small reports asked from four threads at a time, so that the slots stay filled."""

from concurrent.futures import ThreadPoolExecutor

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    stores = spark.read.parquet(str(DATA / "stores"))

    def report(number: int) -> int:
        days = spark.read.parquet(str(DATA / f"sales-{number % 6}"))
        days = days.where(F.expr(f"day % 40 = {number}"))
        days = days.withColumn("w", wait_where(f"id % 200 = {number}", "14"))
        return len(days.join(stores, "store").groupBy("region").agg(F.sum("price"), F.count("w")).collect())

    with ThreadPoolExecutor(4) as pool:
        print(sum(pool.map(report, range(24))), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
