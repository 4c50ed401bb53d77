"""Items in a folder for each day and mode of shipping, as text, from many tasks."""

from common import DATA
from pyspark.sql import functions as F
from tpch import start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_shipdate >= '1998-08-01'")
    items = items.select("l_orderkey", "l_partkey", "l_quantity", "l_shipmode", F.col("l_shipdate").cast("string"))
    spread = items.repartition("l_orderkey")
    spread.write.mode("overwrite").partitionBy("l_shipdate", "l_shipmode").csv(str(DATA / "out" / "days"))
    spark.stop()


if __name__ == "__main__":
    main()
