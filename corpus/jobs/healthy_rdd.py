"""An RDD job: parse lines in Python, reduce by key, balanced partitions."""

import time

from common import session


def parse(lines):
    """Parse a partition of lines, with a short wait as for a slow disk."""
    for number, line in enumerate(lines):
        if number % 2000 == 0:
            time.sleep(0.12)
        key, value = line.split(",")
        yield int(key), int(value)


def main() -> None:
    sc = session().sparkContext
    for seed in range(6):
        lines = sc.range(0, 480_000, 1, 24).map(lambda i, s=seed: f"{(i * 31 + s) % 503},{i}")
        totals = lines.mapPartitions(parse).reduceByKey(lambda a, b: a + b, 12)
        slow = totals.mapPartitions(lambda rows: (time.sleep(0.8), list(rows))[1])
        print(slow.map(lambda kv: kv[1]).max(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
