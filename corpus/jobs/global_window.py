"""Numbers all rows of a table by a window without PARTITION BY: one task sorts everything."""

from common import DATA, session
from pyspark.sql import Window
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    sales = spark.read.parquet(str(DATA / "sales-0"))
    ranked = sales.withColumn("rank", F.row_number().over(Window.orderBy("text")))
    print(ranked.groupBy("store").agg(F.max("rank"), F.sum("price")).collect()[:2], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
