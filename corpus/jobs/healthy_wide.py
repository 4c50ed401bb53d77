"""One report of many stages: aggregates of four groupings, joined and ranked again."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for month in range(3):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        sales = sales.withColumn("w", wait_where("id % 4000 = 1", "35"))
        parts = []
        for column in ("store", "product", "day"):
            totals = sales.groupBy("customer", column).agg(
                F.sum("quantity").alias("q"), F.count("w").alias("w")
            )
            best = totals.groupBy("customer").agg(
                F.max("q").alias(f"best_{column}"), F.sum("w").alias(f"w_{column}")
            )
            parts.append(best.withColumn(f"v_{column}", wait_where("customer % 64 = 1", "8")))
        joined = parts[0].join(parts[1], "customer").join(parts[2], "customer")
        found = joined.groupBy("best_store", "best_product").agg(
            F.max("best_day"), *[F.count(f"v_{c}") for c in ("store", "product", "day")]
        )
        print(found.orderBy("best_store").limit(20).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
