"""Python tasks, seven shuffles, on four hosts, one of which is stopped two thirds of the time."""

from common import session


def crunch(rows):
    """Do the same arithmetic for each row."""
    for row in rows:
        value = row
        for step in range(60):
            value = (value * 1103515245 + 12345 + step) % 2147483648
        yield value % 1009, row


def main() -> None:
    sc = session().sparkContext
    for seed in range(7):
        pairs = sc.range(seed, seed + 900_000, 1, 28).mapPartitions(crunch)
        print(pairs.reduceByKey(max, 8).count(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
