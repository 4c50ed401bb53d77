"""Every task carries its own 8 MB of data from the driver, eighty tasks at a time."""

import os

from common import session


def main() -> None:
    sc = session().sparkContext
    for _ in range(3):
        blobs = [os.urandom(8_000_000) for _ in range(60)]
        print(sc.parallelize(blobs, 60).map(len).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
