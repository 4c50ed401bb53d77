"""Python tasks whose length follows their data; eager speculation copies those that merely have more."""

import time

from common import session


def serve(number: int, rows):
    """Every third partition asks a service four times as often."""
    for count, row in enumerate(rows):
        if count % (100 if number % 3 == 2 else 400) == 0:
            time.sleep(0.3)
        yield row


def main() -> None:
    sc = session().sparkContext
    for seed in range(4):
        print(sc.range(seed, seed + 24_000, 1, 15).mapPartitionsWithIndex(serve).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
