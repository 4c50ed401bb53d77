"""Eight reports, each of which reads and filters the same table again."""

from common import DATA, session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for column in ("store", "day", "product", "quantity", "store", "day", "product", "quantity"):
        sales = spark.read.parquet(str(DATA / "sales-0")).where("price > 2 AND substr(text, 1, 1) <> 'f'")
        totals = sales.groupBy(column).agg(F.max("text").alias("t"), F.sum("price").alias("value"))
        print(totals.orderBy(F.desc("value")).limit(3).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
