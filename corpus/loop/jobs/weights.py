"""All columns of the items, read for the largest of each."""

from pyspark.sql import functions as F
from tpch import show, start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem")
    show(items.groupBy("l_linestatus").agg(*[F.max(name).alias(name) for name in items.columns if name[2:4] != "li"]))
    spark.stop()


if __name__ == "__main__":
    main()
