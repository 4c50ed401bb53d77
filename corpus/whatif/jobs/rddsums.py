"""Sums and a join of RDDs of Python objects; the number of partitions is the default parallelism."""

from tpch import show, start, table


def main() -> None:
    spark = start()
    rows = table(spark, "orders").select("o_orderkey", "o_custkey").filter("o_orderkey % 4 = 0").rdd
    by_customer = rows.map(lambda row: (row[1], 1)).reduceByKey(lambda a, b: a + b)
    levels = by_customer.map(lambda pair: (pair[1], pair[0])).groupByKey().mapValues(len)
    print(sorted(levels.collect())[:5], flush=True)
    customers = table(spark, "customer").select("c_custkey", "c_nationkey").rdd.map(tuple)
    print(by_customer.join(customers).map(lambda pair: pair[1][1]).countByValue(), flush=True)
    show(spark.range(10))
    spark.stop()


if __name__ == "__main__":
    main()
