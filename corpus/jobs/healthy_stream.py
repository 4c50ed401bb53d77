"""Structured Streaming: a small batch every four seconds, done well before the next."""

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    events = spark.readStream.format("rate").option("rowsPerSecond", 400).load()
    events = events.withColumn("w", wait_where("value % 40 = 3", "25"))
    totals = events.groupBy((F.col("value") % 7).alias("k")).agg(F.count("w"), F.sum("value"))
    query = (
        totals.writeStream.outputMode("complete")
        .format("noop")
        .trigger(processingTime="4 seconds")
        .start()
    )
    query.awaitTermination(75)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
