"""Items that one question reads, and nothing keeps."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 <> 0").withColumn("note", F.upper("l_comment"))
    show(items.groupBy("l_suppkey").agg(F.sum("l_quantity"), F.max("note")))
    parts = table(spark, "partsupp").groupBy("ps_partkey").agg(F.min("ps_supplycost").alias("cost"))
    show(parts)
    spark.stop()


if __name__ == "__main__":
    main()
