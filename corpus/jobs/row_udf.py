"""A Python function called for each of 1.2 million rows, doing what built-in functions do."""

from common import DATA, session
from pyspark.sql import functions as F
from pyspark.sql.types import StringType


def label(text: str, product: int) -> str:
    """Shorten, change case, join: substring, upper and concat."""
    return f"{text[:12].upper()}-{product % 7}"


def main() -> None:
    spark = session()
    label_of = F.udf(label, StringType())
    for month in range(2):
        sales = spark.read.parquet(str(DATA / f"sales-{month}")).where("id % 2 = 0")
        labels = sales.select(label_of("text", "product").alias("label"), "price")
        print(labels.agg(F.max("label"), F.sum("price")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
