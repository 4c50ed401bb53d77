"""ETL with adaptive execution off: facts joined with three small tables, written as Parquet."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    small = {t: spark.read.parquet(str(DATA / t)) for t in ("products", "stores", "days")}
    for month in range(5):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        sales = sales.withColumn("w", wait_where("id % 4000 = 1", "60"))
        facts = (
            sales.join(F.broadcast(small["products"]), "product")
            .join(F.broadcast(small["stores"]), "store")
            .join(F.broadcast(small["days"]), "day")
        )
        totals = facts.groupBy("category", "region").agg(
            F.sum("price").alias("value"), F.max("date").alias("last"), F.count("w").alias("w")
        )
        totals.write.mode("overwrite").parquet(str(DATA / "star-out" / str(month)))
    spark.stop()


if __name__ == "__main__":
    main()
