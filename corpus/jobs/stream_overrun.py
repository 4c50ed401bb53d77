"""A stream that takes nearly as long for its rows as they take to come: batches far over their trigger."""

from common import session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    events = spark.readStream.format("rate").option("rowsPerSecond", 180).load()
    events = events.withColumn("w", wait_where("value % 10 IN (3, 6)", "44"))
    totals = events.groupBy((F.col("value") % 7).alias("k")).agg(F.count("w"), F.sum("value"))
    query = (
        totals.writeStream.outputMode("complete")
        .format("noop")
        .trigger(processingTime="2 seconds")
        .start()
    )
    query.awaitTermination(100)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
