"""Items of returned orders, stored as text."""

from common import DATA
from tpch import start, table


def main() -> None:
    spark = start()
    items = table(spark, "lineitem").filter("l_returnflag = 'R' AND l_orderkey % 3 = 0").drop("l_comment")
    items.write.mode("overwrite").csv(str(DATA / "out" / "slips"))
    spark.stop()


if __name__ == "__main__":
    main()
