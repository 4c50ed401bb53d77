"""Three reports from files of text, whose types each of them finds out first."""

from pyspark.sql import functions as F
from tpch import TABLES, show, start


def main() -> None:
    spark = start()
    for keys in (["l_shipmode", "l_returnflag"], ["l_suppkey"], ["l_receiptdate"]):
        items = spark.read.csv(str(TABLES / "csv" / "lineitem" / "lineitem.4.csv"), header=True, inferSchema=True)
        show(items.groupBy(*keys).agg(F.sum("l_quantity"), F.max("l_discount"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
