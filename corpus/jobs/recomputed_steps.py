"""Gradient descent on records that are parsed again in each round: they are not kept."""

import time

from common import session


def parse(lines):
    """Parse a partition of lines, as slowly as a large one would be."""
    time.sleep(1.0)
    for line in lines:
        x, y = line.split(",")
        yield float(x), float(y)


def gradient(rows, slope: float):
    """Return the partial sums of one partition."""
    time.sleep(0.2)
    total = count = 0
    for x, y in rows:
        total += (slope * x - y) * x
        count += 1
    yield total, count


def main() -> None:
    sc = session().sparkContext
    lines = sc.range(0, 48_000, 1, 8).map(lambda i: f"{i % 97 / 97},{3 * (i % 97) / 97}")
    points = lines.mapPartitions(parse)
    slope = 0.0
    for _ in range(12):
        parts = points.mapPartitions(lambda rows, s=slope: gradient(rows, s))
        total, count = parts.reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]))
        slope -= 0.8 * total / count
    print(slope, flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
