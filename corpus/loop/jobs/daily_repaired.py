"""Items in a folder for each year of delivery."""

from pyspark.sql import functions as F
from tpch import DATA, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 40 = 0 AND l_receiptdate < DATE'1994-01-01'")
    items = items.withColumn("year", F.year("l_receiptdate"))
    items.write.mode("overwrite").partitionBy("year").parquet(str(DATA / "out" / "daily"))
    spark.stop()


if __name__ == "__main__":
    main()
