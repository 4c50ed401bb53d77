"""Steps that refine a cached set of edges, as iterative algorithms do, under Spark's default storage level."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 3 = 0")
    edges = items.select(F.col("l_partkey").alias("a"), F.col("l_suppkey").alias("b"), "l_comment", "l_shipinstruct")
    edges = edges.withColumn("text", F.md5("l_comment")).cache()
    ranks = edges.groupBy("a").agg(F.lit(1.0).alias("rank"))
    for _ in range(3):
        sent = edges.join(ranks, "a").groupBy("b").agg(F.sum("rank").alias("sum"), F.max("text").alias("text"))
        ranks = sent.selectExpr("b AS a", "0.15 + 0.85 * sum AS rank").localCheckpoint()
        show(ranks)
    spark.stop()


if __name__ == "__main__":
    main()
