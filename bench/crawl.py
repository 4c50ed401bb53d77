#!/usr/bin/env python3
"""Measure the crawler: logs a second, processor time and bytes of the store per run, memory.

    python3 bench/crawl.py [--logs 2000] [--crawlers 1] [--jobs 2] [--templates result_limit,gzip_input,skew_files,idle_narrow]

The logs are recorded ones of corpus/logs, copied under other ids and times into a temporary folder. Nothing of what is measured
goes over a network.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
for folder in ("tests", "tests/crawl", "tests/oracle"):
    sys.path.insert(0, str(ROOT / folder))
import fleet  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=2000)
    parser.add_argument("--crawlers", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="of each crawler")
    parser.add_argument("--templates", default="result_limit,gzip_input,skew_files,idle_narrow", help="logs of corpus/logs")
    options = parser.parse_args()
    templates = [ROOT / "corpus" / "logs" / f"{name}.zst" for name in options.templates.split(",")]
    with tempfile.TemporaryDirectory(prefix="pyrometer-bench-") as work:
        logs, store = Path(work, "logs"), Path(work, "runs.db")
        logs.mkdir()
        for number in range(options.logs):
            fleet.make_log(logs, number, path=templates[number % len(templates)], name=f"application {number % 40}")
        logged = sum(path.stat().st_size for path in logs.iterdir())
        words = fleet.command(logs, "--store", f"sqlite:{store}", "--once", "--jobs", options.jobs)
        began = time.monotonic()
        crawlers = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(options.crawlers)]
        statuses = [crawler.wait() for crawler in crawlers]
        elapsed = time.monotonic() - began
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        (runs,) = fleet.rows(store, "SELECT count(*) FROM runs")[0]
        assert statuses == [0] * options.crawlers and runs == options.logs, (statuses, runs)
        print(
            f"{runs} logs of {logged / runs / 1000:.0f} kB, {options.crawlers} x {options.jobs} jobs: {runs / elapsed:.0f} logs/s,"
            f" {(used.ru_utime + used.ru_stime) / runs * 1000:.1f} ms of processor time a log,"
            f" {store.stat().st_size / runs / 1000:.0f} kB of store a run, {used.ru_maxrss / 1024:.0f} MiB;"
            f" load {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
