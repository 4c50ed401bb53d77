"""Pairs cached by Python on one of two hosts; every pass over them keeps the other host waiting."""

import time

from common import session


def visit(rows):
    """Look at each row, with a short wait now and then."""
    for count, row in enumerate(rows):
        if count % 1000 == 0:
            time.sleep(0.35)
        yield row[0]


def main() -> None:
    sc = session().sparkContext
    pairs = sc.range(0, 48_000, 1, 12).map(lambda row: (row, row % 11)).cache()
    print(pairs.count(), flush=True)
    sc._jsc.sc().requestExecutors(1)
    time.sleep(14)
    for _ in range(5):
        print(pairs.mapPartitions(visit).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
