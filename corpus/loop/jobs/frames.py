"""Orders that the driver takes over as a table of pandas."""

from tpch import start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").filter("o_orderkey % 4 = 0")
    orders = orders.select("o_orderkey", "o_custkey", "o_totalprice", "o_orderdate", "o_orderpriority")
    frame = orders.toPandas()
    print(frame.groupby("o_orderpriority")["o_custkey"].nunique().to_dict(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
