"""A table cached with MEMORY_ONLY does not fit: each of six questions reads half of it again."""

from common import DATA, session, wait_where
from pyspark import StorageLevel
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sales = spark.read.parquet(str(DATA / "sales"))
    wide = sales.withColumn("w", wait_where("id % 4000 = 1", "30"))
    wide.persist(StorageLevel.MEMORY_ONLY)
    for column in ("store", "product", "day", "customer", "quantity", "id % 100"):
        asked = wide.groupBy(F.expr(column)).agg(F.max("text"), F.count("w"))
        print(len(asked.collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
