"""What each item would be worth after some years, by a long formula."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0").select("l_suppkey", "l_extendedprice", "l_discount")
    price, rate = F.col("l_extendedprice").cast("double"), F.col("l_discount").cast("double")
    for year in range(12):
        items = items.withColumn(f"y{year}", price * F.pow(1 + rate / (year + 1), F.lit(year)) - F.sqrt(price + year))
    show(items.groupBy("l_suppkey").agg(*[F.sum(f"y{year}").alias(f"y{year}") for year in range(12)]))
    spark.stop()


if __name__ == "__main__":
    main()
