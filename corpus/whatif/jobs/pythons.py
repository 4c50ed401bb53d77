"""Rows that go through Python workers: a user's function behind a shuffle, and one over text."""

from pyspark.sql import functions as F
from tpch import lines_csv, show, start, table


def discounted(price: float, discount: float) -> float:
    return float(price) * (1 - float(discount))


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 8 = 0")
    prices = items.groupBy("l_orderkey").agg(F.sum("l_extendedprice").alias("price"), F.max("l_discount").alias("d"))
    show(prices.withColumn("value", F.udf(discounted, "double")("price", "d")).select("value"))
    lines = spark.sparkContext.textFile(lines_csv(), 4)
    modes = lines.filter(lambda line: "AIR" in line).map(lambda line: (line.split(",")[8], len(line)))
    print(sorted(modes.reduceByKey(lambda a, b: a + b).collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
