"""Python tasks whose length follows their data; eager speculation copies those that merely have more."""

import time

from common import session


def serve(number: int, rows):
    """Every third partition asks a service four times as often."""
    for count, row in enumerate(rows):
        if count % (50 if number % 3 == 2 else 200) == 0:
            time.sleep(0.3)
        yield row


def main() -> None:
    sc = session().sparkContext
    for seed in range(6):
        print(sc.range(seed, seed + 6_000, 1, 6).mapPartitionsWithIndex(serve).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
