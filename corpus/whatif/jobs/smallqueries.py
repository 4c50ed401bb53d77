"""Thirty small queries over small tables, as a report of many figures asks them."""

from pyspark.sql import functions as F
from tpch import show, start, table

REGIONS, YEARS = range(5), range(1992, 1995)


def main() -> None:
    spark = start()
    suppliers = table(spark, "supplier").select("s_suppkey", "s_nationkey", "s_acctbal")
    customers = table(spark, "customer").select("c_custkey", "c_nationkey", "c_mktsegment", "c_acctbal")
    for year in YEARS:
        for region in REGIONS:
            some = customers.filter(f"c_nationkey % 5 = {region} AND c_custkey % 7 = {year % 7}")
            show(some.groupBy("c_nationkey", "c_mktsegment").agg(F.sum("c_acctbal").alias("sum")))
            sums = suppliers.filter(f"s_nationkey % 5 = {region}").groupBy("s_nationkey").agg(F.avg("s_acctbal").alias("mean"))
            show(sums.orderBy("mean"))
    spark.stop()


if __name__ == "__main__":
    main()
