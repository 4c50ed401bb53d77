"""A streaming query with a window, and one whose batches run jobs in a group of their own."""

import json
import sys
import time
import urllib.request
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def count(rows: DataFrame, batch: int) -> None:
    context = rows.sparkSession.sparkContext
    context.setJobGroup("mine", f"own group of batch {batch}")
    rows.count()


def main() -> None:
    spark = SparkSession.builder.appName("stream").getOrCreate()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    stream = spark.readStream.format("rate").option("rowsPerSecond", 50).load().withWatermark("timestamp", "1 second")
    counts = stream.groupBy(F.window("timestamp", "1 second")).count()
    first = counts.writeStream.outputMode("append").format("memory").queryName("counts").start()
    second = stream.writeStream.foreachBatch(count).queryName("groups").start()
    deadline = time.monotonic() + 240
    while min(len(query.recentProgress) for query in (first, second)) < 4 and time.monotonic() < deadline:
        time.sleep(0.5)
    assert time.monotonic() < deadline, "the queries made too few batches"
    address = spark.sparkContext.getConf().get("spark.pyrometer.metrics.address")
    metrics = urllib.request.urlopen(address, timeout=10).read().decode()
    first.stop()
    second.stop()
    Path(sys.argv[1]).write_text(json.dumps({"metrics": metrics}), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
