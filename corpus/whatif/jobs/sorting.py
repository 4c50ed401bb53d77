"""Items of orders, sorted within few partitions: what does not fit into memory is spilled."""

from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").drop("l_comment")
    show(items.repartition("l_suppkey").sortWithinPartitions("l_partkey", "l_extendedprice"))
    show(items.repartition("l_partkey").sortWithinPartitions("l_shipdate", "l_extendedprice"))
    spark.stop()


if __name__ == "__main__":
    main()
