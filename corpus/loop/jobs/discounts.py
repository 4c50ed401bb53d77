"""Prices after discounts, by a function that Python runs for each row."""

from pyspark.sql import functions as F
from tpch import show, start, table


def net(price: float, discount: float, tax: float) -> float:
    return float(price) * (1 - float(discount)) * (1 + float(tax))


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 = 0")
    price = F.udf(net, "double")("l_extendedprice", "l_discount", "l_tax")
    show(items.withColumn("net", price).groupBy("l_suppkey").agg(F.sum("net"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
