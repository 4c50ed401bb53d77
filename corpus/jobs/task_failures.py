"""Every fifth partition fails once or twice after doing its work; the job succeeds."""

import time

from common import session
from pyspark import TaskContext


def fragile(index, rows):
    """Work for a while, then fail on the first attempts of some partitions."""
    total = sum(rows)
    time.sleep(2.0)
    attempt = TaskContext.get().attemptNumber()
    if index % 5 == 3 and attempt < 1 + index % 2:
        raise ValueError(f"record in partition {index} cannot be parsed")
    yield index % 4, total


def main() -> None:
    sc = session().sparkContext
    numbers = sc.parallelize(range(400_000), 60)
    print(numbers.mapPartitionsWithIndex(fragile).reduceByKey(lambda a, b: a + b, 4).collect())
    sc.stop()


if __name__ == "__main__":
    main()
