"""Tasks that do nearly nothing, and what that took: `plugin_job.py TASKS FILE`. bench/plugin_overhead.py starts it."""

import json
import os
import sys
import time
import urllib.request
from pathlib import Path


def processor_s(pid: int) -> float:
    """Return the processor time so far of a process and of those that it started."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split() if entry.name.isdigit() else []
        except OSError:
            continue  # it has ended
        if fields and (entry.name == str(pid) or fields[1] == str(pid)):
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    from pyspark.sql import SparkSession  # the bench reads processor_s() without Spark

    tasks = int(sys.argv[1])
    spark = SparkSession.builder.appName(f"{tasks} tasks").getOrCreate()
    spark.range(0, 200, 1, 200).write.format("noop").mode("overwrite").save()
    jvm = spark.sparkContext._jvm
    pid = jvm.java.lang.ProcessHandle.current().pid()
    used = processor_s(pid)
    began = time.monotonic()
    spark.range(0, tasks, 1, tasks).write.format("noop").mode("overwrite").save()
    seconds = time.monotonic() - began
    used = processor_s(pid) - used
    address = spark.sparkContext.getConf().get("spark.pyrometer.metrics.address", "")
    metrics = urllib.request.urlopen(address, timeout=30).read().decode() if address else ""
    jvm.java.lang.System.gc()
    heap = jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    stopped = time.monotonic()
    spark.stop()
    result = {"seconds": seconds, "processor_s": used, "heap_bytes": heap, "stop_seconds": time.monotonic() - stopped, "metrics": metrics}
    Path(sys.argv[2]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
