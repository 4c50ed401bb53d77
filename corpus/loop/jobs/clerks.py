"""What clerks sold in each year, added up by the driver."""

from collections import defaultdict

from tpch import start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").filter("o_orderkey % 5 < 2").select("o_clerk", "o_orderdate", "o_totalprice")
    sums = defaultdict(int)
    for row in orders.collect():
        sums[row["o_clerk"], row["o_orderdate"].year] += int(100 * row["o_totalprice"])
    best = max(sums, key=lambda key: (sums[key], key))
    print(len(sums), best, sums[best], sum(sums.values()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
