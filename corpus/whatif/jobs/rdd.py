"""An RDD job in Python: two keyed sets are made, joined and reduced, twice."""

import time

from pyspark.sql import SparkSession
from warm import start


def waiting(seconds):
    """Return a function that waits once for a partition, then passes its rows on."""

    def work(rows):
        time.sleep(seconds)
        yield from rows

    return work


def run(spark: SparkSession, round_: int, scale: float) -> int:
    sc = spark.sparkContext
    left = sc.range(0, 6000, 1, 12).mapPartitions(waiting(0.8 * scale)).map(lambda i: ((i + round_) % 700, i))
    right = sc.range(0, 1400, 1, 7).mapPartitions(waiting(1.2 * scale)).map(lambda i: (i % 700, -i))
    sums = left.reduceByKey(lambda a, b: a + b, 9).mapPartitions(waiting(0.5 * scale))
    joined = sums.join(right, 10).mapPartitions(waiting(0.7 * scale))
    return joined.map(lambda kv: kv[1][0] + kv[1][1]).max()


def main() -> None:
    spark = start(lambda s: run(s, 0, 0.02))
    for round_ in range(2):
        print(run(spark, round_, 1.0), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
