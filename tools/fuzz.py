#!/usr/bin/env python3
"""Run libFuzzer targets at the same time and note what came of each.

    fuzz.py --cache FOLDER --steps FILE --seed N (--seconds N | --runs N) [--runs-of TARGET=N] [--jobs N] TARGET...

Every target gets the inputs of tests/fuzz/corpus/NAME; with --seconds also those
that earlier runs found (FOLDER/NAME). With --runs the inputs are the same on
every machine. Inputs that break a target go to FOLDER/crashes. A line for each
target goes to --steps, in the form that summarise.py reads.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "tests" / "fuzz" / "corpus"


def command_of(target: Path, limit: str, seed: int, cache: Path, found: Path) -> list[str]:
    """How one target is run; makes the folders that it needs."""
    work, crashes = found / target.name, cache / "crashes"
    for folder in (work, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    seeds = SEEDS / target.name.removeprefix("fuzz_")
    return [
        str(target),
        limit,
        f"-seed={seed}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-print_final_stats=0",
        *(["-entropic=0"] if limit.startswith("-runs=") else []),  # its bookkeeping takes as long as the target
        "-verbosity=0",
        f"-dict={ROOT / 'tests' / 'fuzz' / 'eventlog.dict'}",
        f"-artifact_prefix={crashes}/{target.name}-",
        str(work),
        *([str(seeds)] if seeds.is_dir() else []),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Run libFuzzer targets beside each other.")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--steps", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--runs-of", action="append", default=[], metavar="TARGET=N")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("targets", type=Path, nargs="+")
    arguments = parser.parse_args()
    special = dict(row.split("=") for row in arguments.runs_of)

    def limit_of(target: Path) -> str:
        if arguments.runs is None:
            return f"-max_total_time={arguments.seconds or 20}"
        return f"-runs={special.get(target.name, arguments.runs)}"

    def run(target: Path) -> tuple[Path, subprocess.CompletedProcess[str], float]:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="pyrometer-fuzz-") as forgotten:
            found = arguments.cache if arguments.runs is None else Path(forgotten)
            command = command_of(target, limit_of(target), arguments.seed, arguments.cache, found)
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        return target, done, time.monotonic() - began

    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool, arguments.steps.open("a", encoding="utf-8") as steps:
        for target, done, seconds in pool.map(run, arguments.targets):
            name = f"{target.name}, the corpus and fresh inputs ({limit_of(target)})"
            if done.returncode == 0:
                steps.write(f"passed\t{name}\t\t{seconds:.1f}\n")
                continue
            failed += 1
            print(done.stderr[-8000:], file=sys.stderr, flush=True)
            again = " ".join(done.args)
            steps.write(f"failed\t{name}\tsee its output above, or run: {again}\t{seconds:.1f}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
