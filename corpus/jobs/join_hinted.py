"""A left join whose hint asks for a sort-merge join with a table of sixty-four rows, adaptive execution off."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    stores = spark.read.parquet(str(DATA / "stores")).hint("merge")
    for month in range(4):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        joined = sales.join(stores, "store", "left")
        totals = joined.groupBy("region", "day").agg(F.max("text").alias("t"), F.count("city"))
        totals.write.format("noop").mode("overwrite").save()
    spark.stop()


if __name__ == "__main__":
    main()
