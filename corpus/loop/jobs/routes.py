"""Items in a folder for each month and mode: every task has rows for all of them."""

from common import DATA
from pyspark.sql import functions as F
from tpch import start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 12 = 0").withColumn("month", F.trunc("l_shipdate", "quarter"))
    items = items.drop("l_comment")
    items.write.mode("overwrite").partitionBy("month", "l_shipmode").parquet(str(DATA / "out" / "routes"))
    spark.stop()


if __name__ == "__main__":
    main()
