"""Orders in many files of columns: prices by customer, by clerk and by priority."""

from pyspark.sql import functions as F
from tpch import TABLES, show, start


def main() -> None:
    spark = start()
    for key in ("o_custkey", "o_clerk", "o_orderpriority"):
        orders = spark.read.parquet(str(TABLES / "many" / "orders"))
        show(orders.groupBy(key).agg(F.sum("o_totalprice"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
