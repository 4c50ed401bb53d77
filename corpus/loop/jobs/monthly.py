"""Sales of each supplier in each month, written as files."""

from common import DATA
from pyspark.sql import functions as F
from tpch import start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").withColumn("month", F.trunc("l_shipdate", "month"))
    sums = (F.sum("l_extendedprice").alias("price"), F.count("*").alias("items"))
    sales = items.groupBy("l_suppkey", "month").agg(*sums)
    sales.write.mode("overwrite").parquet(str(DATA / "out" / "monthly"))
    spark.stop()


if __name__ == "__main__":
    main()
