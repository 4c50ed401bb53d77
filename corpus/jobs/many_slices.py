"""An RDD of 60,000 numbers in 2400 slices: every task works for milliseconds."""

from common import session


def main() -> None:
    sc = session().sparkContext
    numbers = sc.parallelize(range(60_000), 2400)
    print(numbers.map(lambda n: n * n % 1009).distinct(4).count(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
