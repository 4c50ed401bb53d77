#!/usr/bin/env python3
"""Record runs with one bad setting each, and their twins with the default: python3 corpus/settings/record.py [NAME ...]

A run that has a log is left out, so that an interrupted recording goes on where it ended. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "record"))
sys.path.insert(0, str(HERE.parent))
import spark_runs as sr  # noqa: E402
from cases import CASES, Case  # noqa: E402
from job import SPARK_3  # noqa: E402


def record(case: Case, bad: bool, venv: Path, options: argparse.Namespace) -> float:
    """Seconds that the run took."""
    kept = options.logs / f"{case.name}-{'bad' if bad else 'twin'}"
    if kept.exists():
        return 0
    events = options.workdir / "events"
    run = sr.Run(kept.name, HERE / "programs.py", conf=case.conf(bad), args=[case.program])
    begun = time.monotonic()
    sr.run_to_end(venv, options.workdir, run, events, {"PYTHONPATH": str(options.packages)})
    next(path for path in events.iterdir() if not path.name.startswith(".")).rename(kept)
    return time.monotonic() - begun


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases to record; all by default")
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE)
    parser.add_argument("--workdir", type=sr.absolute_path, default=sr.DEFAULT_WORKDIR / "settings")
    parser.add_argument("--packages", type=sr.absolute_path, default=sr.DEFAULT_CACHE / "pyrometer-arrow",
                        help="folder with pandas and pyarrow (tests/prepare.py makes it)")
    parser.add_argument("--logs", type=sr.absolute_path, default=HERE / "logs")
    parser.add_argument("--held-out", action="store_true", help="also those that are held out")
    options = parser.parse_args(argv)
    venv = sr.make_venv(options.cache, SPARK_3)
    options.logs.mkdir(parents=True, exist_ok=True)
    if not (options.workdir / "data-of-settings" / "parts.parquet" / "_SUCCESS").exists():
        prepare = sr.Run("prepare", HERE / "programs.py", conf={"spark.driver.memory": "2g"}, args=["prepare"])
        sr.run_to_end(venv, options.workdir, prepare, None)
    for case in CASES:
        if case.name in options.names or (not options.names and (options.held_out or not case.held_out)):
            times = {bad: round(record(case, bad, venv, options), 1) for bad in (False, True)}
            print(json.dumps({"case": case.name, "twin_s": times[False], "bad_s": times[True]}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
