"""Items in a folder for each month and mode: the rows of a folder come together before they are written."""

from common import DATA
from pyspark.sql import functions as F
from tpch import start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 12 = 0").withColumn("month", F.trunc("l_shipdate", "quarter"))
    items = items.drop("l_comment").repartition("month", "l_shipmode")
    items.write.mode("overwrite").partitionBy("month", "l_shipmode").parquet(str(DATA / "out" / "routes"))
    spark.stop()


if __name__ == "__main__":
    main()
