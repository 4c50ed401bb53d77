"""Computes, writes, fails a task, and asks its own plugin for its metrics."""

import json
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def once(number: int) -> int:
    """Fail in the first attempt of one task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context.partitionId() == 1 and context.attemptNumber() == 0:
        raise ValueError("planted failure")
    return number


def main() -> None:
    spark = SparkSession.builder.appName('phases "of" a\\run').getOrCreate()
    spark.range(0, 200_000, 1, 8).groupBy((F.col("id") % 100).alias("k")).count().collect()
    with tempfile.TemporaryDirectory() as folder:
        spark.range(0, 100_000, 1, 4).write.parquet(f"{folder}/out")
        spark.range(0, 100_000, 1, 2).write.csv(f"{folder}/csv")
    try:
        print(spark.sparkContext.parallelize(range(4), 2).map(once).sum())
    except Exception as error:  # a single attempt is allowed
        print(type(error).__name__)
    time.sleep(1)
    address = spark.sparkContext.getConf().get("spark.pyrometer.metrics.address", "")
    metrics = urllib.request.urlopen(address, timeout=10).read().decode() if address else ""
    url = spark.sparkContext.uiWebUrl
    own = [urllib.request.urlopen(f"{url}{path}", timeout=10).read().decode()
           for path in ("/metrics/prometheus", "/metrics/executors/prometheus")] if url else []
    result = {"metrics": metrics, "id": spark.sparkContext.applicationId, "address": address, "servlet": own}
    Path(sys.argv[1]).write_text(json.dumps(result), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
