"""Writes what other programs read: customers in many files of JSON lines, orders in many files of columns."""

from common import session
from tpch import TABLES, table


def main() -> None:
    spark = session()
    customers = table(spark, "customer").repartition(1500, "c_custkey")
    customers.write.mode("overwrite").json(str(TABLES / "many" / "customers"))
    orders = table(spark, "orders").filter("o_orderkey % 2 = 0").repartition(900, "o_orderkey")
    orders.write.mode("overwrite").parquet(str(TABLES / "many" / "orders"))
    spark.stop()


if __name__ == "__main__":
    main()
