"""A cleaned table written three times in different orders, cleaned again for each."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sales = spark.read.parquet(str(DATA / "sales")).where("quantity > 2")
    clean = (
        sales.withColumn("w", wait_where("id % 4000 = 1", "50"))
        .withColumn("value", F.col("price") * F.col("quantity"))
        .groupBy("customer", "product")
        .agg(F.sum("value").alias("value"), F.count("w").alias("w"))
    )
    out = str(DATA / "report-out")
    clean.where("w > 0").write.mode("overwrite").parquet(f"{out}/waited")
    clean.orderBy("customer").write.mode("overwrite").parquet(f"{out}/by-customer")
    clean.orderBy("product").write.mode("overwrite").parquet(f"{out}/by-product")
    clean.groupBy("product").agg(F.max("value")).write.mode("overwrite").parquet(f"{out}/best")
    spark.stop()


if __name__ == "__main__":
    main()
