"""One executor JVM is killed while the reduce side runs; its map output is lost too."""

import os
import signal
import threading
import time
from pathlib import Path

from common import session, text, wait_where
from pyspark.sql import functions as F


def children_of(pid: int) -> list:
    """Return the process ids whose parent is `pid`."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if parent == pid:
            found.append(int(stat.parent.name))
    return found


def kill_executor(driver: int, executor: str) -> None:
    """Kill the one executor JVM of this very application that has that id."""
    for pid in children_of(driver):
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if (b"--executor-id", executor.encode()) in zip(command, command[1:]):
            os.kill(pid, signal.SIGKILL)
            print(f"killed executor {executor}, process {pid}", flush=True)


def stage_two_runs(sc) -> bool:
    """Tell whether the reduce side has finished a few of its tasks."""
    tracker = sc.statusTracker()
    infos = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
    return any(i and i.numTasks == 26 and i.numCompletedTasks >= 4 for i in infos)


def killer(sc, driver: int) -> None:
    """Wait for the reduce side, then kill executor 1."""
    while not stage_two_runs(sc):
        time.sleep(0.2)
    kill_executor(driver, "1")


def main() -> None:
    spark = session()
    driver = os.getppid()
    thread = threading.Thread(target=killer, args=(spark.sparkContext, driver), daemon=True)
    thread.start()
    rows = text(spark.range(0, 240_000, 1, 24)).withColumn("w1", wait_where("id % 1000 = 1", "100"))
    shuffled = rows.repartition(26, "id").withColumn("w2", wait_where("id % 1000 = 2", "150"))
    shuffled.agg(F.count("w1"), F.count("w2"), F.max("text")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
