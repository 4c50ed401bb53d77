"""A Python function used sensibly: on a few thousand aggregated rows only."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F
from pyspark.sql.types import StringType


def grade(value: float) -> str:
    """Put a customer's turnover into a class."""
    return "large" if value > 2000 else "middle" if value > 1000 else "small"


def main() -> None:
    spark = session()
    grade_of = F.udf(grade, StringType())
    for month in range(6):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        sales = sales.withColumn("w", wait_where("id % 4000 = 1", "50"))
        turnover = sales.groupBy("customer").agg(
            F.sum(F.col("price") * F.col("quantity")).cast("double").alias("value"),
            F.count("w").alias("w"),
        )
        top = turnover.withColumn("slow", wait_where("customer % 8 = 1", "2"))
        graded = top.select(grade_of("value").alias("grade"), "slow", "w")
        totals = graded.groupBy("grade").agg(F.count("slow"), F.sum("w"))
        print(totals.collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
