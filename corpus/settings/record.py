#!/usr/bin/env python3
"""Record runs with one bad setting each, and their twins with the default: python3 corpus/settings/record.py [NAME ...]

Cases that run the same program with the same other settings share a twin. A run that has a log is left out, so that an
interrupted recording goes on where it ended. Single pairs differ by some percent: --again repeats those. Each run waits for
an idle machine, and is repeated if that did not stay so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Dict, Tuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "record"))
sys.path.insert(0, str(HERE.parent))
import quiet  # noqa: E402
import spark_runs as sr  # noqa: E402
from cases import CASES, Case  # noqa: E402
from job import SPARK_3  # noqa: E402

RUNS = "runs.json"  # next to the logs: what was recorded, and how long it took
LONGEST_S = 240  # a bad run that takes longer says no more
# Processes and threads that come and go count as other programs: workers of Python for each task, and those of the kernel
# that write thousands of files.
FOREIGN_SHARE = {"write": 0.5, "many_python_tasks": 0.5, "functions": 0.5, "python_groups": 0.5}


def run(name: str, case: Case, bad: bool, venv: Path, options: argparse.Namespace) -> Tuple[Path, quiet.Row]:
    """One run on an idle machine: its log and its times."""
    program = sr.Run(name, HERE / "programs.py", conf=case.conf(bad), args=[case.program], timeout_s=LONGEST_S)
    return quiet.repeat(
        name,
        lambda: quiet.run(
            venv,
            options.workdir,
            program,
            foreign_share=FOREIGN_SHARE.get(case.program, quiet.FOREIGN_SHARE),
            environment={"PYTHONPATH": str(options.packages)},
            draft=options.draft,
        ),
    )


def record(name: str, case: Case, bad: bool, venv: Path, options: argparse.Namespace) -> int:
    """Milliseconds that the run took; it is recorded unless it has a log."""
    kept = options.logs / f"{name}.zst"
    times = options.workdir / f"{name}.json"
    if not kept.exists() or not times.exists():
        log, row = run(name, case, bad, venv, options)
        sr.compress(log, kept)
        times.write_text(json.dumps(row), encoding="utf-8")
    return int(json.loads(times.read_text(encoding="utf-8"))["wall_ms"])


def repeat(case: Case, row: Dict[str, Any], venv: Path, options: argparse.Namespace) -> None:
    """Run both again, in turns, up to the number that is asked for: only their times are kept."""
    for name, bad in ((case.twin, False), (case.name, True)) * options.again:
        times = row.setdefault("bad_again_ms" if bad else "twin_again_ms", [])
        if len(times) < options.again:
            log, measured = run(name, case, bad, venv, options)
            log.unlink()
            times.append(int(measured["wall_ms"]))


def prepare(venv: Path, options: argparse.Namespace) -> None:
    """Write the data that programs read, once."""
    if not (options.workdir / "data-of-settings" / "rows.csv" / "_SUCCESS").exists():
        run = sr.Run("prepare", HERE / "programs.py", conf={"spark.driver.memory": "2g"}, args=["prepare"])
        sr.run_to_end(venv, options.workdir, run, None)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases to record; all by default")
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE)
    parser.add_argument("--workdir", type=sr.absolute_path, default=sr.DEFAULT_WORKDIR / "settings")
    parser.add_argument("--packages", type=sr.absolute_path, default=sr.DEFAULT_CACHE / "pyrometer-arrow",
                        help="folder with pandas and pyarrow (tests/prepare.py makes it)")
    parser.add_argument("--logs", type=sr.absolute_path, default=HERE / "logs")
    parser.add_argument("--again", type=int, default=0, help="run the pairs of NAME this number of times more")
    parser.add_argument("--draft", action="store_true", help="also on a busy machine, to try a program")
    options = parser.parse_args(argv)
    venv = sr.make_venv(options.cache, SPARK_3)
    options.logs.mkdir(parents=True, exist_ok=True)
    options.workdir.mkdir(parents=True, exist_ok=True)
    prepare(venv, options)
    failed = 0
    runs = options.logs / RUNS
    rows = json.loads(runs.read_text(encoding="utf-8")) if runs.exists() else {}
    for case in CASES:
        if options.names and case.name not in options.names:
            continue
        row: Dict[str, Any] = rows.get(case.name, {})
        row.update(key=case.key, value=case.value, held_out=case.held_out, twin=case.twin)
        try:
            if options.again:
                repeat(case, row, venv, options)
            else:
                row["twin_ms"] = record(case.twin, case, False, venv, options)
                row["bad_ms"] = record(case.name, case, True, venv, options)
        except (RuntimeError, subprocess.TimeoutExpired, quiet.BusyMachineError) as error:
            print(f"{case.name}: {error}", file=sys.stderr, flush=True)
            failed += 1
            continue
        rows[case.name] = row
        runs.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(json.dumps({"case": case.name, **row}), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
