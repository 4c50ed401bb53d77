"""Items dealt to other tasks twice, with their comments."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 4 = 0")
    for keys in (["l_suppkey"], ["l_partkey", "l_linenumber"]):
        show(items.repartition(*keys).withColumn("words", F.size(F.split("l_comment", " "))))
    spark.stop()


if __name__ == "__main__":
    main()
