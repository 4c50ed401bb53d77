"""Items from one compressed file of text."""

from pyspark.sql import functions as F
from tpch import TABLES, show, start


def main() -> None:
    spark = start()
    rows = spark.read.csv(str(TABLES / "gzip"), header=True)
    words = rows.withColumn("words", F.size(F.expr("regexp_extract_all(l_comment, '([a-z]+)', 1)")))
    words = words.withColumn("hash", F.sha2("l_comment", 512))
    show(words.groupBy("l_shipmode", "l_returnflag").agg(F.sum("words"), F.max("hash"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
