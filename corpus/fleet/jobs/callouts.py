"""Lines of text of which some are looked up in a slow service, then counted by what it said."""

from common import session, wait_where
from inputs import text_files
from pyspark.sql import functions as F
from tpch import show


def main() -> None:
    spark = session()
    lines = spark.read.text(text_files()).withColumn("key", F.xxhash64("value"))
    looked_up = lines.withColumn("answer", wait_where("pmod(key, 20000) = 0", "150"))
    kinds = looked_up.groupBy(F.pmod("key", F.lit(64)).alias("kind"))
    show(kinds.agg(F.count("answer").alias("answers"), F.max(F.length("value")), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
