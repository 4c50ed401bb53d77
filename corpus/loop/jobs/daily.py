"""Items in a folder for each day of delivery."""

from tpch import DATA, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 40 = 0 AND l_receiptdate < DATE'1994-01-01'")
    items.write.mode("overwrite").partitionBy("l_receiptdate").parquet(str(DATA / "out" / "daily"))
    spark.stop()


if __name__ == "__main__":
    main()
