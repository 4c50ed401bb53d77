"""Five executors of one core each, and every stage has two tasks."""

import time

from common import session


def slow(rows):
    """Work for some seconds on a partition."""
    time.sleep(5)
    yield sum(rows)


def main() -> None:
    sc = session().sparkContext
    for seed in range(8):
        print(sc.range(seed, 100_000 + seed, 1, 2).mapPartitions(slow).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
