"""A table of years and ship modes by customer, as a pivot."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").withColumn("year", F.year("o_orderdate"))
    priced = orders.withColumn("cell", F.concat_ws("_", F.col("year"), F.substring("o_orderpriority", 1, 1)))
    cells = [f"{year}_{level}" for year in range(1992, 1999) for level in range(1, 6)]
    wide = priced.groupBy("o_custkey").pivot("cell", cells).agg(F.sum("o_totalprice"), F.count("*"))
    show(wide)
    spark.stop()


if __name__ == "__main__":
    main()
