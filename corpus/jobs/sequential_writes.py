"""Fourteen tables written one after the other by the same loop, three tasks each, on six slots."""

from common import session, wait_where


def main() -> None:
    spark = session()
    for table in range(14):
        rows = spark.range(0, 300, 1, 3).select("id", wait_where("id % 20 = 7", "400").alias("w"))
        rows.write.mode("overwrite").parquet(f"data/out-sequential/table={table}")
    spark.stop()


if __name__ == "__main__":
    main()
