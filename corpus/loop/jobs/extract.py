"""A part of the items, stored as columns."""

from common import DATA
from tpch import start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_orderkey % 2 = 0")
    items.write.mode("overwrite").parquet(str(DATA / "out" / "extract"))
    spark.stop()


if __name__ == "__main__":
    main()
