"""Write the tables the corpus and the benchmark read; its own run is not recorded."""

import os

from common import DATA, session, text
from pyspark.sql import functions as F

MONTHS = 6


def link_months() -> None:
    """Give the sales table six names, so that each round scans a table of its own."""
    for month in range(MONTHS):
        folder = DATA / f"sales-{month}"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for part in (DATA / "sales").glob("part-*.parquet"):
            os.link(part, folder / part.name)


def main() -> None:
    spark = session()
    sales = (
        text(spark.range(0, 2_400_000, 1, 12))
        .withColumn("customer", F.expr("CAST(hash(id) & 32767 AS BIGINT)"))
        .withColumn("product", F.expr("CAST(hash(id, 1) & 1023 AS BIGINT)"))
        .withColumn("store", F.expr("CAST(hash(id, 2) & 63 AS BIGINT)"))
        .withColumn("day", F.expr("CAST(hash(id, 3) & 511 AS BIGINT)"))
        .withColumn("quantity", F.expr("(hash(id, 4) & 15) + 1"))
        .withColumn("price", F.expr("CAST((hash(id, 5) & 4095) / 100.0 AS DECIMAL(9,2))"))
    )
    out = str(DATA)
    sales.write.mode("overwrite").parquet(f"{out}/sales")
    customers = spark.range(0, 32768, 1, 2).selectExpr(
        "id AS customer",
        "concat('customer ', id) AS name",
        "CAST(id % 25 AS INT) AS nation",
        "CASE WHEN id % 3 = 0 THEN 'retail' WHEN id % 3 = 1 THEN 'trade' ELSE 'web' END AS segment",
    )
    customers.write.mode("overwrite").parquet(f"{out}/customers")
    products = spark.range(0, 1024, 1, 1).selectExpr(
        "id AS product", "concat('product ', id) AS title", "CAST(id % 40 AS INT) AS category"
    )
    products.write.mode("overwrite").parquet(f"{out}/products")
    stores = spark.range(0, 64, 1, 1).selectExpr(
        "id AS store", "concat('store ', id) AS city", "CAST(id % 9 AS INT) AS region"
    )
    stores.write.mode("overwrite").parquet(f"{out}/stores")
    days = spark.range(0, 512, 1, 1).selectExpr(
        "id AS day", "date_add(DATE'2024-01-01', CAST(id AS INT)) AS date"
    )
    days.write.mode("overwrite").parquet(f"{out}/days")
    link_months()
    small = spark.range(0, 300_000, 1, 4).selectExpr(
        "id", "id % 97 AS key", "concat('note ', id) AS note"
    )
    small.repartition(1200).write.mode("overwrite").parquet(f"{out}/small-parquet")
    small.repartition(600).write.mode("overwrite").csv(f"{out}/small-csv")
    spark.stop()


if __name__ == "__main__":
    main()
