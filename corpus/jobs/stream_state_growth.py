"""Counts for each value that ever came, without a watermark: nothing is ever forgotten."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    events = spark.readStream.format("rate").option("rowsPerSecond", 4000).load()
    visits = events.groupBy((F.col("value") / 2).cast("long").alias("session")).agg(
        F.count("value"), F.max("timestamp")
    )
    query = (
        visits.writeStream.outputMode("update")
        .format("noop")
        .trigger(processingTime="4 seconds")
        .start()
    )
    query.awaitTermination(75)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
