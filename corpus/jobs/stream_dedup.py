"""Duplicates dropped by an id without a watermark: every id is remembered without limit."""

from common import session


def main() -> None:
    spark = session()
    events = spark.readStream.format("rate").option("rowsPerSecond", 3000).load()
    once = events.selectExpr("concat('request-', value) AS id", "timestamp").dropDuplicates(["id"])
    query = (
        once.writeStream.outputMode("append")
        .format("noop")
        .trigger(processingTime="4 seconds")
        .start()
    )
    query.awaitTermination(75)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
