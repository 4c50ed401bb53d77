"""Two tables bucketed once by their key, then joined month after month without an exchange."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sales = spark.read.parquet(str(DATA / "sales")).drop("text")
    sales.write.bucketBy(8, "customer").sortBy("customer").mode("overwrite").saveAsTable("b_sales")
    customers = spark.read.parquet(str(DATA / "customers"))
    customers.write.bucketBy(8, "customer").sortBy("customer").mode("overwrite").saveAsTable("b_customers")
    for nation in range(4):
        kept = spark.table("b_customers").where(F.col("nation") % 4 == nation)
        joined = spark.table("b_sales").hint("merge").join(kept, "customer")
        joined = joined.withColumn("w", wait_where("id % 1000 = 1", "90"))
        joined = joined.groupBy("nation").agg(F.sum("price"), F.count("w"))
        print(joined.collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
