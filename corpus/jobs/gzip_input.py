"""Two gzipped CSV files of some 60 MB on four slots, which no task can share; asked twice."""

from common import DATA, session
from pyspark.sql import functions as F

SCHEMA = (
    "id BIGINT, text STRING, customer BIGINT, product BIGINT, store BIGINT, day BIGINT, "
    "quantity INT, price DECIMAL(9,2)"
)


def main() -> None:
    spark = session()
    for first in ("store", "day"):
        sales = spark.read.csv(str(DATA / "sales-gzip"), schema=SCHEMA)
        totals = sales.groupBy(first).agg(F.max("text"), F.sum("price"), F.sum("quantity"))
        print(totals.collect()[:2], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
