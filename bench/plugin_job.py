"""Tasks that do nearly nothing, and what that took: `plugin_job.py TASKS FILE`. bench/plugin_overhead.py starts it."""

import json
import sys
import time
import urllib.request
from pathlib import Path

from pyspark.sql import SparkSession


def main() -> None:
    tasks = int(sys.argv[1])
    spark = SparkSession.builder.appName(f"{tasks} tasks").getOrCreate()
    spark.range(0, 200, 1, 200).write.format("noop").mode("overwrite").save()
    began = time.monotonic()
    spark.range(0, tasks, 1, tasks).write.format("noop").mode("overwrite").save()
    seconds = time.monotonic() - began
    address = spark.sparkContext.getConf().get("spark.pyrometer.metrics.address", "")
    metrics = urllib.request.urlopen(address, timeout=30).read().decode() if address else ""
    jvm = spark.sparkContext._jvm
    jvm.java.lang.System.gc()
    heap = jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    stopped = time.monotonic()
    spark.stop()
    result = {"seconds": seconds, "heap_bytes": heap, "stop_seconds": time.monotonic() - stopped, "metrics": metrics}
    Path(sys.argv[2]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
