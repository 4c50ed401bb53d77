"""Quantities by brand, over items and their parts."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").select("l_partkey", "l_quantity", "l_extendedprice", "l_shipmode")
    parts = table(spark, "part").filter("p_size < 6").select("p_partkey", "p_brand", "p_type")
    rows = items.join(parts, F.expr("l_partkey = p_partkey"))
    show(rows.groupBy("p_brand", "l_shipmode").agg(F.sum("l_quantity"), F.avg("l_extendedprice")))
    spark.stop()


if __name__ == "__main__":
    main()
