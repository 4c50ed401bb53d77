"""Records parsed from lines and asked four things, each time from the lines on."""

import time

from common import session


def features(lines):
    """Turn lines into records; every thousandth line waits, as for a dictionary."""
    for number, line in enumerate(lines):
        if number % 1000 == 0:
            time.sleep(0.3)
        key, value = line.split(";")
        yield int(key), float(value)


def main() -> None:
    sc = session().sparkContext
    lines = sc.range(0, 120_000, 1, 24).map(lambda i: f"{i % 211};{i / 7}")
    records = lines.mapPartitions(features)
    print(records.count(), flush=True)
    print(records.map(lambda r: r[1]).max(), flush=True)
    print(records.reduceByKey(lambda a, b: a + b, 4).count(), flush=True)
    print(records.filter(lambda r: r[0] == 5).map(lambda r: r[1]).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
