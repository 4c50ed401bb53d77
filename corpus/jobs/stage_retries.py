"""Shuffle files of one executor are deleted while the reduce side runs, twice: temporary files were tidied away."""

import os
import threading
import time
from pathlib import Path

from common import session, text, wait_where
from executor_lost import children_of
from pyspark.sql import functions as F


def shuffle_files(driver: int, executor: str) -> list:
    """Return the shuffle files of that executor of this very application."""
    for pid in children_of(driver):
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if (b"--executor-id", executor.encode()) not in zip(command, command[1:]):
            continue
        for variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if variable.startswith(b"SPARK_EXECUTOR_DIRS="):
                folders = variable.split(b"=", 1)[1].decode().split(":")
                return [f for d in folders for f in Path(d).rglob("shuffle_*.data")]
    return []


def reduce_side(sc, beyond: int):
    """Return the id of a reduce stage after `beyond` that has finished a few tasks, or None."""
    tracker = sc.statusTracker()
    for stage in tracker.getActiveStageIds():
        info = tracker.getStageInfo(stage)
        if stage > beyond and info and info.numTasks == 26 and info.numCompletedTasks >= 3:
            return stage
    return None


def tidy(sc, driver: int) -> None:
    """Delete the files of executor 1, then later those of executor 0."""
    last = -1
    for executor in ("1", "0"):
        while (stage := reduce_side(sc, last)) is None:
            time.sleep(0.2)
        last = stage
        for path in shuffle_files(driver, executor):
            path.unlink()
            print("deleted", path.name, flush=True)


def main() -> None:
    spark = session()
    threading.Thread(
        target=tidy, args=(spark.sparkContext, os.getppid()), daemon=True
    ).start()
    for seed in range(2):
        rows = text(spark.range(seed, 240_000 + seed, 1, 24))
        rows = rows.withColumn("w1", wait_where("id % 1000 = 1", "60"))
        shuffled = rows.repartition(26, "id").withColumn("w2", wait_where("id % 1000 = 2", "80"))
        shuffled.agg(F.count("w1"), F.count("w2"), F.max("text")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
