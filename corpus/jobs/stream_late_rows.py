"""One row in five comes two minutes late; the watermark waits for three seconds and drops them."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    events = spark.readStream.format("rate").option("rowsPerSecond", 500).load()
    late = F.expr("timestamp - CASE WHEN value % 5 = 0 THEN INTERVAL 2 MINUTES ELSE INTERVAL 0 SECONDS END")
    counts = (
        events.withColumn("time", late)
        .withWatermark("time", "3 seconds")
        .groupBy(F.window("time", "10 seconds"), F.col("value") % 1000)
        .agg(F.count("value"))
    )
    query = (
        counts.writeStream.outputMode("append")
        .format("noop")
        .trigger(processingTime="4 seconds")
        .start()
    )
    query.awaitTermination(75)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
