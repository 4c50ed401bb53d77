"""What the jobs of the pairs share: their start, and reading the orders.

Start-up of N virtual machines on two cores grows with N and says nothing about a scheduler. Each job therefore waits
until all its executors have registered, then runs its own work with almost no waiting, so that every executor has
loaded and compiled what it needs; that carries the description WARM, and times compare from the first job without it.
"""

from __future__ import annotations

import re
import time
from typing import Callable

from common import DATA, session, wait_where
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

WARM = "warm-up"


def executors_expected(spark: SparkSession) -> int:
    """Return how many executors the application begins with."""
    conf = spark.sparkContext.getConf()
    if conf.get("spark.dynamicAllocation.enabled", "false") == "true":
        return int(conf.get("spark.dynamicAllocation.initialExecutors", "1"))
    found = re.match(r"local-cluster\[(\d+),", spark.sparkContext.master)
    return int(found.group(1)) if found else 1


def start(small: Callable[[SparkSession], object] | None = None) -> SparkSession:
    """Return a session whose executors are all up and warm; `small` is the job's work with short waits."""
    spark = session()
    sc = spark.sparkContext
    wanted = executors_expected(spark)
    # the status counts the driver as one
    while sc._jsc.sc().getExecutorMemoryStatus().size() - 1 < wanted:
        time.sleep(0.1)
    sc.setJobDescription(WARM)
    slots = sc.defaultParallelism
    rows = spark.range(0, 3 * slots, 1, 3 * slots).withColumn("w", wait_where("true", "250"))
    rows.groupBy((F.col("id") % 2).alias("k")).agg(F.count("w")).collect()
    if small:
        small(spark)
    time.sleep(1)
    sc.setJobDescription(None)
    return spark


def orders(spark: SparkSession, every: int, milliseconds: int) -> DataFrame:
    """Return the orders; each row whose id is a multiple of `every` waits when its column `w` is asked for."""
    rows = spark.read.parquet(str(DATA / "orders"))
    return rows.withColumn("w", wait_where(f"id % {every} = 0", str(milliseconds)))
