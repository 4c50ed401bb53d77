"""Every task carries its own 11 MB of data from the driver."""

import os

from common import session


def main() -> None:
    sc = session().sparkContext
    for _ in range(3):
        blobs = [os.urandom(11_000_000) for _ in range(48)]
        print(sc.parallelize(blobs, 48).map(len).sum(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
