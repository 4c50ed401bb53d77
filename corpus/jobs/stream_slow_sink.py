"""Each batch is collected and sent on by the driver, which takes longer than the trigger's three seconds."""

import time

from common import session
from pyspark.sql import functions as F


def send(rows, number: int) -> None:
    """Send a batch to a service, one request for each of its groups."""
    for _ in rows.collect():
        time.sleep(0.7)


def main() -> None:
    spark = session()
    events = spark.readStream.format("rate").option("rowsPerSecond", 500).load()
    totals = events.groupBy((F.col("value") % 8).alias("k")).agg(F.count("value"))
    query = (
        totals.writeStream.outputMode("update")
        .foreachBatch(send)
        .trigger(processingTime="3 seconds")
        .start()
    )
    query.awaitTermination(80)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
