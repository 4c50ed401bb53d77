"""Monthly reports: join and aggregate tables of 12 files, tasks of a few seconds."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F

QUESTIONS = (
    ("product", "nation"),
    ("product", "segment"),
    ("store", "nation"),
    ("day", "segment"),
    ("store", "segment"),
    ("day", "nation"),
)


def main() -> None:
    spark = session()
    customers = spark.read.parquet(str(DATA / "customers"))
    for month, (first, second) in enumerate(QUESTIONS):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        sales = sales.withColumn("w", wait_where("id % 4000 = 1", "70"))
        totals = (
            sales.join(customers, "customer")
            .groupBy(first, second)
            .agg(F.sum(F.col("price") * F.col("quantity")).alias("value"), F.count("w"))
        )
        print(totals.orderBy(F.desc("value")).limit(20).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
