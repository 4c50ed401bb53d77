"""Lines of text that Python counts, and a query over the same files."""

from pyspark.sql import functions as F
from tpch import lines_csv, show, start


def main() -> None:
    spark = start()
    rows = spark.read.text(lines_csv())
    words = rows.select(F.split("value", ",").alias("parts")).selectExpr("parts[14] AS mode", "parts[13] AS how")
    show(words.groupBy("mode", "how").count())
    sizes = rows.sample(0.2, seed=7).rdd.map(lambda row: (row[0].count(" ") % 16, 1))
    print(sorted(sizes.reduceByKey(lambda a, b: a + b, 4).collect()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
