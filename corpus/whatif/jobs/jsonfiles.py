"""Orders in 1,800 files of JSON lines, read twice."""

from pyspark.sql import functions as F
from pyspark.sql import types as T
from tpch import TABLES, show, start

SCHEMA = T.StructType(
    [
        T.StructField("o_orderkey", T.LongType()),
        T.StructField("o_custkey", T.LongType()),
        T.StructField("o_totalprice", T.DoubleType()),
        T.StructField("o_orderpriority", T.StringType()),
    ]
)


def main() -> None:
    spark = start()
    orders = spark.read.schema(SCHEMA).json(str(TABLES / "many" / "json"))
    show(orders.groupBy("o_orderpriority").agg(F.sum("o_totalprice").alias("sum"), F.count("*").alias("n")))
    show(orders.filter("o_custkey % 3 = 0").groupBy("o_custkey").agg(F.max("o_totalprice").alias("most")))
    spark.stop()


if __name__ == "__main__":
    main()
