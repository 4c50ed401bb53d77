"""A small application that saves what Spark shows of itself: metrics, threads of its JVMs, and profiles of its functions."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Iterator

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

OUT = Path(sys.argv[1])


def parent_of(pid: int) -> int:
    """Return the process that started another one."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


def executor_pid(rows: Iterator[int]) -> Iterator[int]:
    """Return the JVM of the executor: the parent of the daemon that started this worker."""
    return iter([parent_of(os.getppid())])


def slow(row: int) -> int:
    """Take some time, so that a dump finds the task."""
    return (time.sleep(0.02), row)[1]


def digits(row: int) -> int:
    """Compute something that calls other functions."""
    return sum(int(digit) for digit in str(row**7))


def save(url: str, name: str) -> None:
    """Keep what an address of the web UI shows."""
    with urllib.request.urlopen(url, timeout=30) as reply:
        (OUT / name).write_bytes(reply.read())


def dumps(pid: int, name: str) -> None:
    """Keep three dumps of the threads of a JVM in one file."""
    with open(OUT / name, "wb") as output:
        for _ in range(3):
            subprocess.run(["jstack", "-l", str(pid)], stdout=output, check=True)
            time.sleep(0.5)


def main() -> None:
    spark = SparkSession.builder.getOrCreate()
    context = spark.sparkContext
    url = context.uiWebUrl
    executor = context.parallelize([0], 1).mapPartitions(executor_pid).first()
    driver = spark._jvm.java.lang.ProcessHandle.current().pid()
    busy = threading.Thread(target=lambda: context.parallelize(range(1200), 2).map(slow).sum())
    busy.start()
    time.sleep(1.5)
    dumps(executor, "executor-0.jstack")
    dumps(driver, "driver.jstack")
    save(f"{url}/metrics/json/", "metrics.json")
    save(f"{url}/metrics/prometheus/", "driver.prom")
    save(f"{url}/metrics/executors/prometheus/", "executors.prom")
    busy.join()
    context.parallelize(range(2000), 2).map(digits).sum()
    spark.conf.set("spark.sql.pyspark.udf.profiler", "perf")
    spark.range(0, 2000, 1, 2).select(f.sum(f.udf(digits, "long")("id"))).collect()
    spark.profile.dump(str(OUT))
    context.dump_profiles(str(OUT))
    spark.stop()


if __name__ == "__main__":
    main()
