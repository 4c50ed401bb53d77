"""A join kept in memory once and asked eight different questions, in one JVM."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sales = spark.read.parquet(str(DATA / "sales")).select("id", "customer", "product", "quantity")
    customers = spark.read.parquet(str(DATA / "customers"))
    wide = sales.join(customers, "customer").drop("name").persist()
    for bit in range(8):
        asked = wide.where(F.expr(f"(hash(id) & {1 << bit}) = 0"))
        asked = asked.withColumn("w", wait_where(f"id % 2000 = {bit}", "28"))
        print(asked.groupBy("nation").agg(F.sum("quantity"), F.count("w")).count(), flush=True)
        print(asked.groupBy("segment").agg(F.max("product"), F.count("w")).collect(), flush=True)
    wide.unpersist()
    spark.stop()


if __name__ == "__main__":
    main()
