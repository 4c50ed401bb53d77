"""Four questions to items that Python parses from text once."""

from datetime import date
from typing import Tuple

from pyspark import StorageLevel
from tpch import TABLES, start


def parse(line: str) -> Tuple[str, int, int, float]:
    fields = line.split(",")
    shipped, committed, received = (date.fromisoformat(fields[i]) for i in (10, 11, 12))
    return fields[14], (received - shipped).days, (received - committed).days, float(fields[5]) * (1 - float(fields[6]))


def main() -> None:
    spark = start()
    lines = spark.sparkContext.textFile(str(TABLES / "plain")).filter(lambda line: not line.startswith("l_"))
    journeys = lines.map(parse).persist(StorageLevel.MEMORY_AND_DISK)
    modes = journeys.map(lambda one: (one[0], one[1])).reduceByKey(lambda a, b: a + b)
    print(sorted(modes.collect()), flush=True)
    late = journeys.map(lambda one: (one[2], 1)).reduceByKey(lambda a, b: a + b)
    print(max(late.collect()), flush=True)
    print(round(journeys.map(lambda one: one[3]).max(), 2), flush=True)
    print(journeys.map(lambda one: one[1] * one[1]).sum(), flush=True)
    journeys.unpersist()
    spark.stop()


if __name__ == "__main__":
    main()
