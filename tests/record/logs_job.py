"""A small application whose logs have jobs side by side, failures of several kinds, and executors that are lost."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from typing import Any, Callable, Iterator

from pyspark.sql import SparkSession
from pyspark.sql import functions as f


def attempt(name: str, work: Callable[[], Any]) -> None:
    """Do something that fails, and print the traceback as a program without a handler would."""
    print(f"attempt {name}", flush=True)
    try:
        work()
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()


def parent_of(pid: int) -> int:
    """Return the process that started another one."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


def kill_executor(rows: Iterator[int]) -> Iterator[int]:
    """Kill the JVM of this executor, as the kernel does when memory runs out; only in the first attempt."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    if context.attemptNumber() == 0 and context.partitionId() == 0:
        time.sleep(1.2)
        os.kill(parent_of(os.getppid()), signal.SIGKILL)
        time.sleep(30)
    return rows


def price_of(text: str) -> float:
    """Fail on what is not a number."""
    try:
        return float(text)
    except ValueError as error:
        raise RuntimeError(f"no price in row {len(text)}") from error


def lookup(row: int) -> int:
    """Fail while a failure is handled."""
    try:
        return {0: 1}[row]
    except KeyError:
        return [1, 2][row]


def import_missing(row: int) -> int:
    """Import what no worker has."""
    import no_such_module  # type: ignore[import-not-found]

    return int(no_such_module.value + row)


def side_by_side(spark: SparkSession) -> None:
    """Two jobs at the same time, in threads."""

    def job(partitions: int) -> None:
        spark.sparkContext.parallelize(range(partitions), partitions).map(lambda x: (time.sleep(1.5), x)[1]).sum()

    threads = [threading.Thread(target=job, args=(n,)) for n in (3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    spark = SparkSession.builder.getOrCreate()
    context = spark.sparkContext
    spark.range(0, 200000, 1, 4).groupBy((f.col("id") % 7).alias("k")).count().collect()
    side_by_side(spark)
    attempt("python", lambda: context.parallelize(["1", "two"], 2).map(price_of).collect())
    attempt("context", lambda: context.parallelize([0, 5], 2).map(lookup).collect())
    attempt("module", lambda: context.parallelize([1], 1).map(import_missing).collect())
    attempt("jvm", lambda: spark.sql("SELECT assert_true(id < 5, concat('row ', id)) FROM range(10)").collect())
    attempt("class", lambda: spark.read.format("com.acme.Missing").load())
    attempt("forname", lambda: spark._jvm.java.lang.Class.forName("com.acme.Gone"))
    attempt("killed", lambda: context.parallelize(range(4), 2).mapPartitions(kill_executor).collect())
    attempt("memory", lambda: spark.sql("SELECT sum(size(sequence(0, 300000000 + id))) FROM range(0, 1, 1, 1)").collect())
    spark.range(0, 1000, 1, 2).selectExpr("sum(id)").collect()
    spark.stop()


if __name__ == "__main__":
    main()
