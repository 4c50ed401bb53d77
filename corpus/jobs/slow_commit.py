"""Writes to a store where renaming copies: after the last task the driver moves file by file."""

from common import DATA, session


def main() -> None:
    spark = session()
    for month in range(2):
        sales = spark.read.parquet(str(DATA / f"sales-{month}")).where("id % 2 = 1")
        sales.write.mode("overwrite").parquet(f"store://{DATA}/committed/{month}")
    spark.stop()


if __name__ == "__main__":
    main()
