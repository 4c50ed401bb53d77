"""Three tables kept in memory by CACHE TABLE; the reports read one of them."""

from common import DATA, session, wait_where


def main() -> None:
    spark = session()
    for month in range(3):
        sales = spark.read.parquet(str(DATA / f"sales-{month}"))
        wide = sales.withColumn("w", wait_where("id % 4000 = 1", "30")).drop("text")
        wide.createOrReplaceTempView(f"sales_{month}")
        spark.sql(f"CACHE TABLE sales_{month}")
    for column in ("store", "product"):
        query = f"SELECT {column}, sum(price), count(w) FROM sales_1 GROUP BY {column}"
        print(len(spark.sql(query).collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
