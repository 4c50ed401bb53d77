"""Broadcast joins are turned off: facts are shuffled and sorted to meet a table of a thousand rows."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    products = spark.read.parquet(str(DATA / "products"))
    for month in range(3):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        totals = (
            sales.join(products, "product")
            .groupBy("category")
            .agg(F.max("text"), F.sum("price").alias("value"), F.max("title"))
        )
        print(totals.orderBy("category").limit(3).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
