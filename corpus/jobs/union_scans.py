"""One query puts six totals of the same CSV table under each other and parses the table for each."""

from functools import reduce

from common import DATA, session
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SCHEMA = "id BIGINT, text STRING, customer BIGINT, product BIGINT, store BIGINT, day BIGINT, quantity INT, price DECIMAL(9,2)"


def total(sales: DataFrame, column: str) -> DataFrame:
    """Return the value by one column."""
    return sales.groupBy(F.col(column).alias("key")).agg(F.sum("price").alias("value"), F.max("text"))


def main() -> None:
    spark = session()
    path = str(DATA / "sales-csv")
    spark.read.parquet(str(DATA / "sales-0")).where("id < 900000").write.mode("overwrite").csv(path)
    sales = spark.read.csv(path, schema=SCHEMA)
    columns = ("customer", "product", "store", "day", "quantity", "price")
    totals = reduce(DataFrame.unionByName, [total(sales, column) for column in columns])
    print(totals.agg(F.max("value"), F.count("*")).collect(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
