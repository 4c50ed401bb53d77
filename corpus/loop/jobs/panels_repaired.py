"""Four questions to items of text, which are parsed once and kept."""

from pyspark.sql import functions as F
from tpch import lines_csv, show, start

SCHEMA = """
    l_orderkey LONG, l_partkey LONG, l_suppkey LONG, l_linenumber INT, l_quantity DOUBLE, l_extendedprice DOUBLE,
    l_discount DOUBLE, l_tax DOUBLE, l_returnflag STRING, l_linestatus STRING, l_shipdate STRING, l_commitdate STRING,
    l_receiptdate STRING, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING
"""


def main() -> None:
    spark = start()
    items = spark.read.csv(lines_csv(), schema=SCHEMA, header=True)
    items = items.select("l_suppkey", "l_quantity", "l_extendedprice", "l_returnflag", "l_shipmode", "l_shipdate")
    items = items.filter("l_quantity > 10").persist()
    for key in ("l_returnflag", "l_shipmode", "l_suppkey", "l_shipdate"):
        show(items.groupBy(key).agg(F.sum("l_extendedprice"), F.avg("l_quantity")))
    spark.stop()


if __name__ == "__main__":
    main()
