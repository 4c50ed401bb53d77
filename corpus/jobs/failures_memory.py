"""Three of 20 tasks run out of a Python worker's memory, three times each, after seconds of work."""

import time

from common import session
from pyspark import TaskContext


def load(number: int, rows):
    """Hold a partition in memory; the large ones fail until a quieter time."""
    time.sleep(3)
    if number in (4, 11, 17) and TaskContext.get().attemptNumber() < 3:
        raise MemoryError("could not allocate 1073741824 bytes for the index")
    yield from (row % 13 for row in rows)


def main() -> None:
    sc = session().sparkContext
    for _ in range(2):
        rows = sc.range(0, 40_000, 1, 20).mapPartitionsWithIndex(load)
        print(sorted(rows.countByValue().items())[:3], flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
