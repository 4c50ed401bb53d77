"""Prices after discounts, by a function of pandas."""

import pandas as pd
from pyspark.sql import functions as F
from tpch import show, start, table


def net(price: pd.Series, discount: pd.Series, tax: pd.Series) -> pd.Series:
    return price * (1 - discount) * (1 + tax)


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    columns = [F.col(name).cast("double") for name in ("l_extendedprice", "l_discount", "l_tax")]
    price = F.pandas_udf(net, "double")(*columns)
    show(items.withColumn("net", price).groupBy("l_suppkey").agg(F.sum("net"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
