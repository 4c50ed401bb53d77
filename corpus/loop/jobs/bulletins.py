"""Files of text that are stored as columns, one after the other; between two, the program waits for the next one."""

import time

from common import DATA, session
from tpch import TABLES

PAUSE_S = 5
SCHEMA = """
    l_orderkey LONG, l_partkey LONG, l_suppkey LONG, l_linenumber INT, l_quantity DOUBLE, l_extendedprice DOUBLE,
    l_discount DOUBLE, l_tax DOUBLE, l_returnflag STRING, l_linestatus STRING, l_shipdate STRING, l_commitdate STRING,
    l_receiptdate STRING, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING
"""


def main() -> None:
    spark = session()
    for number in range(1, 4):
        items = spark.read.csv(str(TABLES / "csv" / "lineitem" / f"lineitem.{number}.csv"), schema=SCHEMA, header=True)
        late = items.filter("l_receiptdate > l_commitdate").drop("l_comment")
        late.write.mode("overwrite").parquet(str(DATA / "out" / "bulletins" / str(number)))
        time.sleep(PAUSE_S)
    spark.stop()


if __name__ == "__main__":
    main()
