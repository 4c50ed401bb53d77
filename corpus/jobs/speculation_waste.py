"""Tasks of two lengths under eager speculation: copies of the long ones start, and all come too late."""

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    for seed in range(4):
        rows = spark.range(seed * 2400, seed * 2400 + 2400, 1, 24)
        # tasks of the second half take three times as long as those of the first
        long = wait_where("id % 10 = 3", f"CASE WHEN id >= {seed * 2400 + 1200} THEN 300 ELSE 100 END")
        rows.select("id", long.alias("w")).agg(F.sum("id"), F.count("w")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
