"""Text that is stored as columns, in a folder for each year."""

from common import DATA, session
from inputs import SCHEMA, text_files
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    items = spark.read.csv(text_files(), schema=SCHEMA, header=True).drop("l_comment")
    items = items.withColumn("year", F.substring("l_shipdate", 1, 4))
    items.write.mode("overwrite").partitionBy("year").parquet(str(DATA / "out" / "archivist"))
    spark.stop()


if __name__ == "__main__":
    main()
