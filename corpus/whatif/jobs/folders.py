"""Orders in a folder for each month: every task writes a file into each."""

from common import DATA
from pyspark.sql import functions as F
from tpch import start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").select("o_orderkey", "o_custkey", "o_totalprice", "o_orderdate", "o_orderpriority")
    months = orders.withColumn("month", F.trunc("o_orderdate", "month"))
    spread = months.groupBy("o_custkey", "month").agg(F.sum("o_totalprice").alias("price"), F.count("*").alias("n"))
    spread.write.mode("overwrite").partitionBy("month").parquet(str(DATA / "out" / "months"))
    spark.stop()


if __name__ == "__main__":
    main()
