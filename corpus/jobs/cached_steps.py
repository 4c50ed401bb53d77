"""Each step persists its table and counts it, then goes on from the files it wrote."""

from common import DATA, session, wait_where
from pyspark import StorageLevel


def main() -> None:
    spark = session()
    for step in range(3):
        sales = spark.read.parquet(str(DATA / f"sales-{step}"))
        clean = sales.withColumn("w", wait_where("id % 4000 = 1", "40")).where("quantity > 1")
        clean.persist(StorageLevel.MEMORY_AND_DISK)
        print(clean.count(), flush=True)
        again = spark.read.parquet(str(DATA / f"sales-{step}")).where("quantity > 3")
        again = again.withColumn("v", wait_where("id % 4000 = 1", "20"))
        again.groupBy("store").count().write.mode("overwrite").parquet(str(DATA / f"steps-out/{step}"))
    spark.stop()


if __name__ == "__main__":
    main()
