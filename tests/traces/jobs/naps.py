"""A job of PySpark whose tasks sleep: how many, for how long each, and with which status it exits."""

import sys
import time

from pyspark.sql import SparkSession


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def main() -> None:
    tasks, seconds, status = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    spark = SparkSession.builder.master("local[2]").appName("naps").config("spark.ui.enabled", "false").getOrCreate()
    print("ready", flush=True)
    spark.sparkContext.parallelize([seconds] * tasks, tasks).map(nap).collect()
    spark.stop()
    sys.exit(status)


if __name__ == "__main__":
    main()
