"""A hint broadcasts a table of two hundred megabytes to executors of one gigabyte, for a small join."""

from common import DATA, session, text
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    facts = spark.read.parquet(str(DATA / "sales-0")).select("id", "customer")
    for seed in range(1):
        labels = text(spark.range(seed, 1_200_000 + seed, 1, 8), 256)
        joined = facts.join(F.broadcast(labels), "id")
        print(joined.agg(F.max("text"), F.max("customer")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
