"""A structured streaming query (rate source, memory sink) of a few micro-batches."""

import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main() -> None:
    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    rate = spark.readStream.format("rate").option("rowsPerSecond", 200).load()
    counts = (
        rate.withWatermark("timestamp", "2 seconds")
        .groupBy(F.window("timestamp", "2 seconds"), (F.col("value") % 5).alias("key"))
        .count()
    )
    query = (
        counts.writeStream.format("memory")
        .queryName("rate_counts")
        .outputMode("append")
        .trigger(processingTime="2 seconds")
        .start()
    )
    time.sleep(16)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
