"""Two of three executors are killed one after the other while the reduce side runs."""

import os
import threading
import time

from common import session, text, wait_where
from executor_lost import kill_executor
from pyspark.sql import functions as F


def done_of_reduce(sc) -> int:
    """Return how many tasks the running reduce stage has finished."""
    tracker = sc.statusTracker()
    infos = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
    return max((i.numCompletedTasks for i in infos if i and i.numTasks == 20), default=0)


def killer(sc, driver: int) -> None:
    """Kill executor 0 once a few reduce tasks are done, and executor 2 in the next attempt."""
    while done_of_reduce(sc) < 3:
        time.sleep(0.2)
    kill_executor(driver, "0")
    time.sleep(12)
    while done_of_reduce(sc) < 8:
        time.sleep(0.2)
    kill_executor(driver, "2")


def main() -> None:
    spark = session()
    threading.Thread(
        target=killer, args=(spark.sparkContext, os.getppid()), daemon=True
    ).start()
    orders = text(spark.range(0, 240_000, 1, 18)).withColumn(
        "w1", wait_where("id % 1000 = 1", "80")
    )
    grouped = orders.groupBy(F.expr("id % 60000 AS customer")).agg(F.max("text"), F.count("w1"))
    asked = grouped.withColumn("w2", wait_where("customer % 500 = 2", "250"))
    asked.agg(F.count("*"), F.count("w2"), F.sum("count(w1)")).collect()
    spark.stop()


if __name__ == "__main__":
    main()
