"""Items in a folder for each year of delivery, and a summary of what was written."""

from common import DATA
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").withColumn("year", F.year("l_receiptdate")).drop("l_comment", "l_shipinstruct")
    target = str(DATA / "out" / "export")
    items.write.mode("overwrite").partitionBy("year").parquet(target)
    written = spark.read.parquet(target)
    show(written.groupBy("year", "l_shipmode").agg(F.sum("l_quantity"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
