"""Python tasks hand whole archives to the JVM: two of 14 are larger than its heap, until a retry asks in small pieces."""

import time

from common import session
from pyspark import TaskContext

MIB = 1024 * 1024


def fetch(number: int, rows):
    """Load the documents of a partition; archives come whole at first, in pieces when it is tried again."""
    time.sleep(2)
    whole = number in (3, 9) and TaskContext.get().attemptNumber() == 0
    for row in rows:
        yield row % 7, bytes(600 * MIB if whole and row % 500 == 250 else 2000)


def main() -> None:
    sc = session().sparkContext
    documents = sc.range(0, 7000, 1, 14).mapPartitionsWithIndex(fetch)
    sizes = documents.partitionBy(4).mapValues(len).reduceByKey(max)
    print(sorted(sizes.collect())[:3], flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
