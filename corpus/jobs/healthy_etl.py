"""ETL: read Parquet, clean, and write well-sized Parquet files."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    target = str(DATA / "etl-out")
    for part in range(5):
        sales = spark.read.parquet(str(DATA / f"sales-{part}"))
        sales = sales.withColumn("w", wait_where("id % 4000 = 1", "60"))
        clean = sales.select(
            "id",
            "customer",
            (F.col("price") * F.col("quantity")).alias("value"),
            F.upper("text").alias("text"),
            F.coalesce("w", F.lit("")).alias("note"),
        )
        clean.write.mode("overwrite").parquet(f"{target}/{part}")
    spark.stop()


if __name__ == "__main__":
    main()
