"""Windows of ten seconds with a watermark, files as the sink: state comes and goes."""

from common import DATA, session, wait_where
from pyspark.sql import functions as F


def main() -> None:
    spark = session()
    events = spark.readStream.format("rate").option("rowsPerSecond", 300).load()
    events = events.withColumn("w", wait_where("value % 60 = 3", "25"))
    counts = (
        events.withWatermark("timestamp", "5 seconds")
        .groupBy(F.window("timestamp", "10 seconds"), (F.col("value") % 20).alias("k"))
        .agg(F.count("w"))
    )
    out = DATA / f"windows-out-{spark.sparkContext.applicationId}"
    query = (
        counts.writeStream.outputMode("append")
        .format("parquet")
        .option("path", str(out))
        .option("checkpointLocation", f"{out}-checkpoint")
        .trigger(processingTime="8 seconds")
        .start()
    )
    query.awaitTermination(100)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
