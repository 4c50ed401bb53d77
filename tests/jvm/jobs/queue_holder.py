"""An application that holds all cores of a cluster until a file exists: `queue_holder.py FILE`."""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession


def main() -> None:
    spark = SparkSession.builder.appName("holder").getOrCreate()
    spark.range(0, 10, 1, 2).count()
    print("holds", flush=True)
    while not Path(sys.argv[1]).exists():
        time.sleep(0.2)
    spark.stop()


if __name__ == "__main__":
    main()
