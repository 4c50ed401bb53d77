"""Tasks of two lengths under eager speculation: copies of the long ones start, and all come too late."""

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(8):
        first, middle = seed * 8000, seed * 8000 + 4000
        rows = spark.range(first, first + 8000, 1, 8)
        # tasks of the second half wait four times as often as those of the first
        long = wait_where(f"id % 100 = 3 OR (id >= {middle} AND id % 100 IN (24, 45, 66))", "140")
        rows.select("id", long.alias("w")).agg(F.sum("id"), F.count("w")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
