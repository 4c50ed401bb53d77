"""Words and checksums of lines of text; hardly anything is shuffled."""

from common import session
from inputs import text_files
from pyspark.sql import functions as F
from tpch import show


def main() -> None:
    spark = session()
    lines = spark.read.text(text_files())
    lines = lines.withColumn("words", F.size(F.expr("regexp_extract_all(value, '([a-z]+)', 1)")))
    lines = lines.withColumn("sum", F.sha2("value", 256))
    show(lines.groupBy("words").agg(F.max("sum"), F.count("*")))
    spark.stop()


if __name__ == "__main__":
    main()
