"""Items of orders in 1,200 files of text, whose types Spark finds out, summed by two keys."""

from pyspark.sql import functions as F
from tpch import TABLES, show, start


def main() -> None:
    spark = start()
    items = spark.read.option("inferSchema", "true").option("header", "true").csv(str(TABLES / "many" / "csv"))
    show(items.groupBy("l_shipmode", "l_returnflag").agg(F.sum("l_quantity").alias("sum"), F.count("*").alias("n")))
    spark.stop()


if __name__ == "__main__":
    main()
