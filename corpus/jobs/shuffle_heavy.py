"""A small table blown up sixteen times and then shuffled whole, four times over by other columns."""

from common import session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    text(spark.range(0, 200_000, 1, 4), 224).write.mode("overwrite").parquet("data/narrow")
    rows = spark.read.parquet("data/narrow").withColumn("copy", F.explode(F.expr("sequence(1, 16)")))
    for column in ("a", "b", "c", "d"):
        rows = rows.withColumn(column, F.expr(f"hash(copy, id, '{column}')")).repartition(16, column)
    rows.agg(F.max("a"), F.max("text"), F.count("*")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
