"""RDD API: half of all records carry one key, and groupByKey sends them to one task."""

import hashlib
import time

from common import session


def record(number: int) -> tuple:
    """Return a key and a value of incompressible text."""
    key = "hot" if number % 2 else f"key {number % 4001}"
    return key, hashlib.sha256(str(number).encode()).hexdigest()


def rate(group: tuple) -> tuple:
    """Go over one key's values with a short wait for every few, as for a slow service."""
    key, values = group
    count = longest = 0
    for value in values:
        count += 1
        longest = max(longest, int(value[:6], 16))
        if count % 500 == 0:
            time.sleep(0.1)
    time.sleep(0.003)
    return key, count, longest


def main() -> None:
    sc = session().sparkContext
    records = sc.range(0, 240_000, 1, 8).map(record)
    print(records.groupByKey(12).map(rate).map(lambda row: row[1]).max(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
