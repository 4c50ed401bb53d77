"""Orders in the price bands that their price is between."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    prices = table(spark, "orders").select("o_orderkey", F.col("o_totalprice").cast("double").alias("price"), "o_clerk")
    bands = spark.range(3000).selectExpr("id AS band", "id * 180.0D AS low", "(id + 1) * 180.0D AS high")
    rows = prices.join(F.broadcast(bands), F.expr("price >= low AND price < high"))
    show(rows.groupBy("band").agg(F.count("*"), F.max("price"), F.min("o_clerk")))
    spark.stop()


if __name__ == "__main__":
    main()
