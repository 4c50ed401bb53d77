"""A Spark application that does its next step when a file says so; see test_follow.py."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pyspark import SparkContext


def wait_for(path: Path) -> None:
    """Wait for a minute at most, so that an application that was left alone ends by itself."""
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)
    sys.exit(f"nobody wrote {path}")


def main() -> None:
    steps = int(sys.argv[1])
    context = SparkContext()
    for step in range(1, steps + 1):
        wait_for(Path(f"go-{step}"))
        context.parallelize(range(1000), 4).map(lambda number: (number % 7, number)).groupByKey(3).count()
    wait_for(Path("end"))
    context.stop()


main()
