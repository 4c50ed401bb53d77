"""Orders with what was ordered, written for others to read."""

from common import DATA
from pyspark.sql import functions as F
from tpch import start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").select("l_orderkey", "l_partkey", "l_quantity", "l_shipmode")
    orders = table(spark, "orders").select("o_orderkey", "o_orderdate", "o_totalprice").filter("o_orderkey % 2 = 0")
    rows = orders.join(items, F.expr("l_orderkey = o_orderkey")).drop("l_orderkey")
    rows.write.mode("overwrite").option("compression", "gzip").json(str(DATA / "out" / "ordered"))
    months = rows.groupBy(F.trunc("o_orderdate", "month").alias("month"), "l_shipmode").agg(F.sum("l_quantity"))
    months.write.mode("overwrite").parquet(str(DATA / "out" / "months"))
    spark.stop()


if __name__ == "__main__":
    main()
