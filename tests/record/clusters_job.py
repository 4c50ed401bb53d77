"""The application behind the logs of clusters: barrier stages, and stages that read what other executors keep.

    clusters_job.py barrier             tasks that wait for each other; one of them fails once
    clusters_job.py kept FILE           shuffle files and a cached RDD are read before and after something happens:
                                        the program makes FILE.ready, and goes on once FILE exists
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pyspark import BarrierTaskContext, SparkContext, StorageLevel
from pyspark.sql import SparkSession

EXECUTORS = 2


def wait_for_executors(context: SparkContext) -> None:
    """Wait until the executors have registered."""
    while len(context._jsc.sc().statusTracker().getExecutorInfos()) < EXECUTORS + 1:
        time.sleep(0.2)


def late_partition(rows: Iterator[int]) -> Iterator[int]:
    """All tasks wait at the barrier for the one of partition 3."""
    context = BarrierTaskContext.get()
    if context.partitionId() == 3:
        time.sleep(4)
    context.barrier()
    yield sum(rows)


def failing_once(failed: Path, rows: Iterator[tuple[int, int]]) -> Iterator[int]:
    """One task fails in the first attempt of the stage, so that all tasks run again: Spark does that for map stages only."""
    context = BarrierTaskContext.get()
    first = not failed.exists()
    if first and context.partitionId() == 1:
        time.sleep(2)
        failed.touch()
        raise ValueError("planned failure")
    time.sleep(12 if first else 2)  # a task that is killed at a barrier takes its executor with it (exit code 50)
    context.allGather(str(context.partitionId()))
    yield sum(value for _, value in rows)


def run_barriers(context: SparkContext) -> None:
    """Two barrier stages, the second one after a shuffle, and an ordinary one."""
    print(context.parallelize(range(400), 8).map(lambda i: i * i).sum())
    print(context.parallelize(range(400), 4).barrier().mapPartitions(late_partition).collect())
    pairs = context.parallelize(range(4000), 4).map(lambda i: (i % 100, i)).reduceByKey(lambda a, b: a + b, 4)
    sums = pairs.barrier().mapPartitions(partial(failing_once, Path.cwd() / "failed"))
    print(sums.map(lambda total: (total % 3, total)).reduceByKey(lambda a, b: a + b, 2).collect())


def slowly(rows: Iterator[int]) -> Iterator[tuple[int, int]]:
    """Take a moment for each partition."""
    time.sleep(0.7)
    for row in rows:
        yield row % 50, row


def run_kept(context: SparkContext, file: Path) -> None:
    """Read shuffle files and a cached RDD, wait for what happens, and read them again."""
    cached = context.parallelize(range(4000), 8).map(lambda i: i + 1).setName("kept").persist(StorageLevel.MEMORY_AND_DISK)
    print(cached.count())
    sums = cached.mapPartitions(slowly).reduceByKey(lambda a, b: a + b, 4)
    print(sums.count())
    Path(f"{file}.ready").touch()
    while not file.exists():
        time.sleep(0.1)
    print(cached.mapPartitions(slowly).count())
    print(sums.map(lambda pair: pair[1]).sum())
    time.sleep(10)
    print(cached.mapPartitions(slowly).count())


def main() -> None:
    spark = SparkSession.builder.getOrCreate()
    wait_for_executors(spark.sparkContext)
    if sys.argv[1] == "barrier":
        run_barriers(spark.sparkContext)
    else:
        run_kept(spark.sparkContext, Path(sys.argv[2]))
    spark.stop()


if __name__ == "__main__":
    main()
