"""Five rounds over blocks cached in memory only, twice as many bytes as there is room for."""

import os
import time

from common import session


def blocks(numbers):
    """Make 28 MB of bytes that do not compress, as slowly as a parser would."""
    time.sleep(1.5)
    for _ in numbers:
        yield os.urandom(200_000)


def main() -> None:
    sc = session().sparkContext
    data = sc.range(0, 140 * 16, 1, 16).mapPartitions(blocks).cache()
    for _ in range(6):
        print(data.map(len).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
