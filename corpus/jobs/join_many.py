"""Two tables are joined on a key that repeats in both: every row meets three hundred others."""

from common import session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    left = text(spark.range(0, 120_000, 1, 8), 224).selectExpr("id % 400 AS key", "id", "text")
    right = spark.range(0, 120_000, 1, 8).selectExpr("id % 400 AS key", "id AS other")
    pairs = left.join(right, "key").withColumn("bucket", F.expr("pmod(hash(id, other), 60000)"))
    totals = pairs.groupBy("bucket").agg(F.max("text").alias("t"), F.count("*").alias("n"))
    print(totals.agg(F.max("n"), F.max("t")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
