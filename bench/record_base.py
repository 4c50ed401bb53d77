#!/usr/bin/env python3
"""Record the wide SQL log that benchmarks multiply (bench/data/base-sql.zst).

It is one real Spark run over the corpus's tables: many operators a stage, AQE
on, so that its TaskEnd lines are as long as those of production SQL jobs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "record"))
sys.path.insert(0, str(ROOT / "corpus"))
import record as corpus  # noqa: E402
import spark_runs as sr  # noqa: E402

CONF = {
    "spark.executor.memory": "1g",
    "spark.sql.files.maxPartitionBytes": "36m",
    "spark.sql.shuffle.partitions": "64",
    "spark.sql.autoBroadcastJoinThreshold": "100k",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "256k",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "64k",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}


def record(cache: Path, workdir: Path, out: Path) -> None:
    """Run the session and keep its log, compressed."""
    corpus.prepare(cache, workdir)
    events = workdir / "events"
    script = ROOT / "corpus" / "jobs" / "base_sql.py"
    run = sr.Run("base-sql", script, "local-cluster[2,2,1024]", CONF, timeout_s=600)
    sr.run_to_end(sr.make_venv(cache, corpus.SPARK_3), workdir, run, events)
    out.parent.mkdir(parents=True, exist_ok=True)
    log = next(sr.logs_in(events))
    sr.compress(log, out)


def describe(path: Path) -> None:
    """Print how many tasks the log has and how long their lines are."""
    text = subprocess.run(["zstd", "-dc", str(path)], check=True, capture_output=True).stdout
    lines = text.splitlines()
    ends = [line for line in lines if line.startswith(b'{"Event":"SparkListenerTaskEnd"')]
    starts = sum(b"SparkListenerSQLExecutionStart" in line[:120] for line in lines)
    mean = sum(map(len, ends)) // max(1, len(ends))
    print(f"{len(text)} bytes, {len(ends)} TaskEnd lines of {mean} bytes, {starts} SQL executions")


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venv"
    )
    parser.add_argument("--workdir", type=sr.absolute_path, default=sr.DEFAULT_WORKDIR)
    parser.add_argument(
        "--out", type=sr.absolute_path, default=ROOT / "bench" / "data" / "base-sql.zst"
    )
    options = parser.parse_args(argv)
    record(options.cache, options.workdir, options.out)
    describe(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
