"""JSON lines read for each of three reports, the schema given."""

from common import DATA, session
from pyspark.sql import functions as F

SCHEMA = "customer BIGINT, product BIGINT, store BIGINT, day BIGINT, quantity INT, price DECIMAL(9,2)"


def main() -> None:
    spark = session()
    for keys in (("store", "day"), ("product",), ("day",)):
        sales = spark.read.schema(SCHEMA).json(str(DATA / "sales-json"))
        print(sales.groupBy(*keys).agg(F.sum("quantity")).collect()[:2], flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
