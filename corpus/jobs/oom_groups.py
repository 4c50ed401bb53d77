"""All words of a key are collected into one list: more than the heap holds, on every attempt."""

from common import session, text, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    words = text(spark.range(0, 3_000_000, 1, 8)).withColumn("w", wait_where("id % 50000 = 1", "200"))
    print(words.agg(F.count("w"), F.max("text")).collect(), flush=True)
    lists = words.groupBy(F.expr("id % 2")).agg(F.collect_list("text").alias("all"))
    print(lists.agg(F.sum(F.size("all"))).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
