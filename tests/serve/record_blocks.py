"""Records tests/logs/blocks: RDDs and a table kept in memory and on disk by two executors, one of which dies.

    SPARK_HOME=.../pyspark python tests/serve/record_blocks.py FOLDER
"""

from __future__ import annotations

import os
import sys
import time

from pyspark import StorageLevel
from pyspark.sql import SparkSession


def main() -> None:
    folder = os.path.abspath(sys.argv[1])
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("blocks")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", f"file:{folder}")
        .config("spark.eventLog.compress", "true")
        .config("spark.eventLog.logBlockUpdates.enabled", "true")
        .config("spark.eventLog.rolling.enabled", "false")
        .config("spark.executor.memory", "600m")
        .config("spark.memory.offHeap.enabled", "true")
        .config("spark.memory.offHeap.size", "64m")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.redaction.regex", "(?i)secret|password|token|access[.]?key")
        .config("spark.hadoop.fs.s3a.secret.key", "not to be seen")
        .getOrCreate()
    )
    context = spark.sparkContext
    while len(context._jsc.sc().statusTracker().getExecutorInfos()) < 3:
        time.sleep(0.2)
    memory = context.parallelize(range(40_000), 6).map(lambda i: "x" * (i % 50)).setName("in memory")
    memory.persist(StorageLevel.MEMORY_ONLY).count()
    both = context.parallelize(range(9_000), 4).map(lambda i: "y" * 400).setName("in memory and on disk")
    both.persist(StorageLevel.MEMORY_AND_DISK_2).count()
    disk = context.parallelize(range(5_000), 3).map(lambda i: "z" * 300).setName("on disk")
    disk.persist(StorageLevel.DISK_ONLY).count()
    table = spark.range(200_000).selectExpr("id", "id % 7 AS k").cache()
    table.groupBy("k").count().collect()
    off_heap = context.parallelize(range(3_000), 2).map(lambda i: "o" * 200).setName("off heap")
    off_heap.persist(StorageLevel.OFF_HEAP).count()
    large = context.parallelize(range(8), 8).map(lambda i: os.urandom(30 << 20)).setName("too large for memory")
    large.persist(StorageLevel.MEMORY_AND_DISK).count()
    memory.unpersist(blocking=True)
    gone = context.parallelize(range(100), 2).setName("gone").persist(StorageLevel.MEMORY_ONLY)
    gone.count()
    gone.unpersist(blocking=True)
    context._jsc.sc().killExecutor("1")
    time.sleep(6)
    both.map(len).sum()
    table.groupBy("k").count().collect()
    time.sleep(1)
    spark.stop()


if __name__ == "__main__":
    main()
