"""A summary by order, and one by part, written as files."""

from common import DATA
from pyspark.sql import functions as F
from tpch import start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem")
    out = DATA / "out"
    orders = items.groupBy("l_orderkey").agg(F.sum("l_extendedprice").alias("price"), F.max("l_shipdate").alias("last"))
    orders.write.mode("overwrite").parquet(str(out / "orders"))
    parts = items.groupBy("l_partkey").agg(F.avg("l_quantity").alias("quantity"), F.count("*").alias("n"))
    parts.write.mode("overwrite").option("compression", "gzip").csv(str(out / "parts"))
    spark.stop()


if __name__ == "__main__":
    main()
