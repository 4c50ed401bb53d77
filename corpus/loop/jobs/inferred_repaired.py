"""Three reports from files of text, whose types are given."""

from pyspark.sql import functions as F
from tpch import TABLES, show, start

SCHEMA = """
    l_orderkey INT, l_partkey INT, l_suppkey INT, l_linenumber INT, l_quantity INT, l_extendedprice DOUBLE,
    l_discount DOUBLE, l_tax DOUBLE, l_returnflag STRING, l_linestatus STRING, l_shipdate DATE, l_commitdate DATE,
    l_receiptdate DATE, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING
"""


def main() -> None:
    spark = start()
    for keys in (["l_shipmode", "l_returnflag"], ["l_suppkey"], ["l_receiptdate"]):
        items = spark.read.schema(SCHEMA).csv(str(TABLES / "csv" / "lineitem" / "lineitem.4.csv"), header=True)
        show(items.groupBy(*keys).agg(F.sum("l_quantity"), F.max("l_discount"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
