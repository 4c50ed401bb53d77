"""Text parsed by a Python function before an aggregate, and again in a filter."""

import re

from common import DATA, session
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, IntegerType

DIGITS = re.compile(r"[0-9]+")


def digits(text: str) -> int:
    """Count the runs of digits."""
    return len(DIGITS.findall(text))


def main() -> None:
    spark = session()
    count_of = F.udf(digits, IntegerType())
    is_odd = F.udf(lambda text: digits(text) % 2 == 1, BooleanType())
    sales = spark.read.parquet(str(DATA / "sales-3")).where("id % 3 = 0")
    print(sales.withColumn("n", count_of("text")).groupBy("n").count().collect()[:3], flush=True)
    print(sales.where(is_odd("text")).groupBy("store").count().collect()[:3], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
