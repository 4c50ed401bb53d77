"""Items with three tables that are small compared with them."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").select("l_partkey", "l_suppkey", "l_quantity", "l_extendedprice", "l_shipmode")
    parts = table(spark, "part").select("p_partkey", "p_brand", "p_size")
    suppliers = table(spark, "supplier").select("s_suppkey", "s_nationkey")
    nations = table(spark, "nation").select("n_nationkey", "n_name")
    rows = items.join(parts, F.expr("l_partkey = p_partkey")).join(suppliers, F.expr("l_suppkey = s_suppkey"))
    rows = rows.join(nations, F.expr("s_nationkey = n_nationkey"))
    show(rows.groupBy("n_name", "p_brand").agg(F.sum("l_extendedprice"), F.avg("l_quantity"), F.max("p_size")))
    spark.stop()


if __name__ == "__main__":
    main()
