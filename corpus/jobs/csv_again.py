"""One CSV table read five times for two or three of its eight columns, its types inferred each time."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for key in ("store", "product", "day", "customer", "store"):
        sales = spark.read.csv(str(DATA / "sales-csv"), header=True, inferSchema=True)
        print(sales.groupBy(key).agg(F.sum("price")).collect()[:2], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
