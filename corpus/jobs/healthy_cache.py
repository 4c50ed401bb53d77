"""A table cached once and asked six times, the way caching is meant."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sales = spark.read.parquet(str(DATA / "sales")).select(
        "id", "customer", "product", "store", "quantity", "price"
    )
    sales = sales.withColumn("w", wait_where("id % 4000 = 1", "25")).cache()
    for column in ("store", "product", "customer", "quantity", "id % 50", "product % 8"):
        asked = sales.withColumn("w2", wait_where("id % 4000 = 2", "50"))
        asked.groupBy(F.expr(column)).agg(F.sum("price"), F.count("w"), F.count("w2")).collect()
    sales.unpersist()
    spark.stop()


if __name__ == "__main__":
    main()
