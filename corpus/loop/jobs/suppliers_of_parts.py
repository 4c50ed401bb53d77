"""Pairs of Python objects: parts with their suppliers, joined with how often they were sold."""

from tpch import start, table


def main() -> None:
    spark = start()
    offers = table(spark, "partsupp").select("ps_partkey", "ps_suppkey").filter("ps_partkey % 4 = 0").rdd.map(tuple)
    items = table(spark, "lineitem").select("l_partkey").filter("l_partkey % 16 = 0").rdd
    sold = items.map(lambda row: (row[0], 1)).reduceByKey(lambda a, b: a + b)
    rows = offers.join(sold).map(lambda one: (one[1][0] % 100, one[1][1])).reduceByKey(max)
    print(sorted(rows.collect())[:5], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
