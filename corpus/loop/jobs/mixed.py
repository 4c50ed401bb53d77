"""Customers by what they spend, by a query, and modes of delivery by what Python counts in lines of text."""

from pyspark.sql import functions as F
from tpch import TABLES, show, start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").groupBy("o_custkey").agg(F.sum("o_totalprice").alias("spent"))
    show(orders.groupBy(F.expr("int(spent / 100000)").alias("class")).agg(F.count("*"), F.max("spent")))
    lines = spark.sparkContext.textFile(str(TABLES / "csv" / "lineitem" / "lineitem.5.csv")).filter(
        lambda line: not line.startswith("l_")
    )
    fields = lines.map(lambda line: line.split(","))
    days = fields.map(lambda one: ((one[14], one[12]), 1)).reduceByKey(lambda a, b: a + b)
    print(sorted(days.map(lambda one: (one[0][0], one[1])).reduceByKey(max).collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
