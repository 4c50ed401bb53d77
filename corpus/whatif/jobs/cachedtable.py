"""A table that is cached, and six queries of it: with little memory only a part of it stays."""

from pyspark import StorageLevel
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    parts = table(spark, "part").select("p_partkey", "p_brand", "p_type")
    wide = items.join(F.broadcast(parts), F.expr("l_partkey = p_partkey"))
    wide = wide.withColumn("code", F.sha1(F.concat_ws("-", "l_comment", "p_type"))).drop("l_comment", "p_partkey")
    wide.persist(StorageLevel.MEMORY_ONLY)
    for column in ("l_shipmode", "l_returnflag", "p_brand", "l_linestatus", "l_shipinstruct", "l_linenumber"):
        show(wide.groupBy(column).agg(F.max("code").alias("most"), F.sum("l_quantity").alias("sum")))
    spark.stop()


if __name__ == "__main__":
    main()
