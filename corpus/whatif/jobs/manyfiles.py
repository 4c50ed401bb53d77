"""Writes the tables of many small files that other jobs read: orders as JSON, items of orders as CSV."""

from common import session
from tpch import TABLES, table


def main() -> None:
    spark = session()
    orders = table(spark, "orders").filter("o_orderkey % 2 = 0").repartition(1800, "o_orderkey")
    orders.write.mode("overwrite").json(str(TABLES / "many" / "json"))
    items = table(spark, "lineitem").filter("l_orderkey % 8 = 0").repartition(1200, "l_orderkey")
    items.write.mode("overwrite").option("header", "true").csv(str(TABLES / "many" / "csv"))
    spark.stop()


if __name__ == "__main__":
    main()
