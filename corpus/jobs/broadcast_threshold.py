"""The broadcast threshold was raised to a gigabyte: a dimension that grew is broadcast by it."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    orders = spark.read.parquet(str(DATA / "sales-0"))
    dimension = spark.read.parquet(str(DATA / "sales-1")).where("quantity <= 8")
    dimension = dimension.selectExpr("id AS ref", "text AS label", "store AS s")
    joined = orders.select("id", "day").join(dimension, F.col("id") == F.col("ref"))
    print(joined.groupBy("day").agg(F.max("label")).orderBy("day").limit(3).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
