"""Two executors get SIGTERM from inside their own tasks, at two times of a map stage."""

import os
import signal
import time

from common import session
from pyspark import TaskContext


def parent_of(pid: int) -> int:
    """Return the parent process of a process."""
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


def work(number: int, rows):
    """Work for two seconds; tasks 9 and 17 end their executor on their first try."""
    time.sleep(1.5)
    if number in (9, 17) and TaskContext.get().attemptNumber() == 0:
        os.kill(parent_of(os.getppid()), signal.SIGTERM)
        time.sleep(20)
    time.sleep(0.5)
    yield from ((row % 31, row) for row in rows)


def main() -> None:
    sc = session().sparkContext
    pairs = sc.range(0, 60_000, 1, 30).mapPartitionsWithIndex(work)
    print(pairs.reduceByKey(max, 6).count(), flush=True)
    sc.stop()


if __name__ == "__main__":
    main()
