"""What clerks sold in each year, added up by the executors."""

from pyspark.sql import functions as F
from tpch import start, table


def main() -> None:
    spark = start()
    orders = table(spark, "orders").filter("o_orderkey % 5 < 2").select("o_clerk", "o_orderdate", "o_totalprice")
    cents = F.sum((100 * F.col("o_totalprice")).cast("long"))
    rows = orders.groupBy("o_clerk", F.year("o_orderdate").alias("year")).agg(cents.alias("cents")).collect()
    sums = {(row["o_clerk"], row["year"]): row["cents"] for row in rows}
    best = max(sums, key=lambda key: (sums[key], key))
    print(len(sums), best, sums[best], sum(sums.values()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
