"""Five questions about one joined and summed table that each of them builds again."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    customers = spark.read.parquet(str(DATA / "customers"))
    sales = spark.read.parquet(str(DATA / "sales"))
    sales = sales.withColumn("w", wait_where("id % 4000 = 1", "40"))
    turnover = (
        sales.join(customers, "customer")
        .groupBy("customer", "nation", "segment")
        .agg(F.sum(F.col("price") * F.col("quantity")).alias("value"), F.count("w").alias("w"))
    )
    for question in ("nation", "segment", "customer % 10", "customer % 7", "customer % 3"):
        totals = turnover.groupBy(F.expr(question)).agg(F.sum("value"), F.sum("w"))
        print(totals.collect()[:5], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
