"""Items that are on their way, by day and mode, added up before their days."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    counts = (F.count("*").alias("items"), F.sum("l_quantity").alias("quantity"))
    journeys = items.groupBy("l_shipmode", "l_shipdate", "l_receiptdate").agg(*counts)
    days = F.explode(F.sequence("l_shipdate", "l_receiptdate"))
    rows = journeys.select("l_shipmode", "items", "quantity", days.alias("day"))
    quantity = F.sum("quantity").cast("decimal(25,2)").alias("quantity")
    show(rows.groupBy("day", "l_shipmode").agg(F.sum("items").alias("items"), quantity))
    spark.stop()


if __name__ == "__main__":
    main()
