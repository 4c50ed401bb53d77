"""Two sources in one stream; the clock of one stops and holds the watermark of both."""

from common import session
from pyspark.sql import functions as F


def main() -> None:
    spark = session()

    def source(rate: int, time: str):
        rows = spark.readStream.format("rate").option("rowsPerSecond", rate).load()
        return rows.selectExpr(f"{time} AS time", "value").withWatermark("time", "5 seconds")

    right = source(300, "timestamp")
    stuck = source(5, "date_trunc('DAY', timestamp)")
    counts = right.union(stuck).groupBy(F.window("time", "5 seconds"), "value").count()
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
