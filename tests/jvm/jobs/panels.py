"""Does what the dashboards show, until it has been scraped for a while: skew, spill, writes, commits, a streaming query."""

import json
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

SECONDS = 20


def round_of(spark: SparkSession, folder: str, number: int) -> None:
    keys = F.when(F.col("id") % 10 < 8, 0).otherwise(F.col("id") % 97).alias("k")
    rows = spark.range(0, 400_000, 1, 4).select(keys, F.col("id"), F.sha2(F.col("id").cast("string"), 256).alias("text"))
    rows.repartition(6, "k").sortWithinPartitions("text").write.mode("overwrite").parquet(f"{folder}/sorted/{number}")


def main() -> None:
    spark = SparkSession.builder.appName("panels").getOrCreate()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        stream = spark.readStream.format("rate").option("rowsPerSecond", 50).load().withWatermark("timestamp", "1 second")
        counts = stream.groupBy(F.window("timestamp", "1 second")).count()
        query = counts.writeStream.outputMode("append").format("memory").queryName("counts").start()
        number = 0
        while number < 2 or time.monotonic() - began < SECONDS:
            round_of(spark, folder, number)
            number += 1
        query.stop()
    time.sleep(2)
    Path(sys.argv[1]).write_text(json.dumps({"id": spark.sparkContext.applicationId}), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
