"""Customers in many files of JSON lines: balances by segment, then by nation."""

from pyspark.sql import functions as F
from tpch import TABLES, show, start

SCHEMA = "c_custkey LONG, c_nationkey LONG, c_acctbal DOUBLE, c_mktsegment STRING"


def main() -> None:
    spark = start()
    customers = spark.read.schema(SCHEMA).json(str(TABLES / "many" / "customers"))
    show(customers.groupBy("c_mktsegment").agg(F.sum("c_acctbal"), F.count("*")))
    show(customers.groupBy("c_nationkey").agg(F.max("c_acctbal")))
    spark.stop()


if __name__ == "__main__":
    main()
