"""Gradient descent on a cached RDD, as MLlib works: many short, well filled jobs."""

import random
import time

from common import session


def point(number: int) -> tuple:
    """Return one observation of y = 3 x + 2 with noise."""
    draw = random.Random(number)
    x = draw.random()
    return x, 3 * x + 2 + draw.gauss(0, 0.1)


def gradient(rows, slope: float, base: float):
    """Return the partial sums of one partition."""
    time.sleep(1.2)
    by_slope = by_base = count = 0
    for x, y in rows:
        error = slope * x + base - y
        by_slope += error * x
        by_base += error
        count += 1
    yield by_slope, by_base, count


def main() -> None:
    sc = session().sparkContext
    points = sc.range(0, 96_000, 1, 8).map(point).cache()
    slope = base = 0.0
    for _ in range(24):
        parts = points.mapPartitions(lambda rows, s=slope, b=base: gradient(rows, s, b))
        total = parts.reduce(lambda a, b: tuple(map(sum, zip(a, b))))
        slope -= 0.8 * total[0] / total[2]
        base -= 0.8 * total[1] / total[2]
    print(slope, base, flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
