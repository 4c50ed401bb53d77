"""A running total over all sales in SQL, without PARTITION BY."""

from common import DATA, session

QUERY = """
    SELECT store, max(total) AS total FROM (
        SELECT store, sum(quantity) OVER (ORDER BY day, id) AS total, text FROM sales)
    WHERE length(text) > 3 GROUP BY store
"""


def main() -> None:
    spark = session()
    for month in range(2):
        spark.read.parquet(str(DATA / f"sales-{month}")).createOrReplaceTempView("sales")
        print(spark.sql(QUERY).collect()[:2], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
