"""The first stage of the run: one of 18 Python tasks meets a service that does not answer."""

import time

from common import session


def call(number: int, rows):
    """Ask a service for each batch of rows; the service behind partition 5 is slow."""
    for count, row in enumerate(rows):
        if count % 500 == 0:
            time.sleep(1.6 if number == 5 else 0.1)
        yield row % 97, row


def main() -> None:
    sc = session().sparkContext
    rows = sc.range(0, 180_000, 1, 18).mapPartitionsWithIndex(call)
    print(rows.reduceByKey(lambda a, b: a + b, 6).count(), flush=True)
    for seed in range(3):
        again = sc.range(seed, 90_000 + seed, 1, 18).mapPartitionsWithIndex(lambda _, r: call(0, r))
        print(again.map(lambda kv: kv[1]).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
