"""Items of parts that are kept in memory, and five questions to them."""

from pyspark import StorageLevel
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    sums = (F.sum("l_extendedprice").alias("price"), F.max("l_comment").alias("note"), F.count("*").alias("n"))
    ledger = items.groupBy("l_orderkey", "l_suppkey").agg(*sums)
    ledger = ledger.withColumn("seal", F.sha2(F.concat_ws("-", "note", "price"), 256))
    ledger.persist(StorageLevel.MEMORY_ONLY)
    for divisor in (3, 5, 7, 11, 13):
        show(ledger.filter(f"l_orderkey % {divisor} = 0").groupBy("l_suppkey").agg(F.sum("price"), F.max("seal")))
    spark.stop()


if __name__ == "__main__":
    main()
