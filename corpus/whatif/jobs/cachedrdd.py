"""An RDD of rows as objects, persisted in memory and passed over five times."""

from pyspark import StorageLevel
from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").select("o_orderkey", "o_custkey", "o_totalprice", "o_clerk", "o_comment")
    hashed = orders.withColumn("text", F.sha2(F.concat_ws("/", "o_comment", "o_clerk"), 512)).repartition(16)
    hashed = spark.createDataFrame(hashed.rdd.map(tuple), hashed.schema).filter("o_orderkey % 4 < 3")
    hashed.persist(StorageLevel.MEMORY_ONLY)
    for step in range(5):
        show(hashed.filter(f"o_custkey % 5 = {step}").groupBy("o_clerk").agg(F.max("text").alias("most")))
    spark.stop()


if __name__ == "__main__":
    main()
