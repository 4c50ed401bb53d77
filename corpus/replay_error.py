#!/usr/bin/env python3
"""Measures how well the scheduler simulator replays recorded runs, and writes the table of docs/simulator.md.

    python3 corpus/replay_error.py --binary build/pyrometer [--update-docs] [LOG...]

Without logs: those of the corpus and of the tests, one a run. Logs that are damaged or without an end are left out:
they do not say how long the run took.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import page_parts

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "simulator.md"
BEGIN, END = "<!-- replay_error.py begins -->", "<!-- replay_error.py ends -->"


def own_logs() -> List[Path]:
    corpus = sorted((ROOT / "corpus" / "logs").glob("*.zst"))
    tests = sorted(path for kind in ("codecs", "versions") for path in (ROOT / "tests" / "logs" / kind).glob("*/*"))
    return corpus + tests + sorted((ROOT / "tests" / "logs" / "attempts").glob("*"))


def reports_of(binary: str, log: Path) -> List[Dict[str, Any]]:
    done = subprocess.run([binary, "diagnose", "--format", "json", str(log)], capture_output=True, check=False)
    if done.returncode != 0:
        return []
    document = json.loads(done.stdout)
    return document["reports"] if "reports" in document else [document]


def is_complete(report: Dict[str, Any]) -> bool:
    """The log says when the run began and ended, and no line of it was lost."""
    integrity, events = report["integrity"], report["integrity"]["events"]
    return (
        not integrity["truncated"]
        and not integrity["in_progress"]
        and not integrity["bad_lines"]
        and events.get("SparkListenerApplicationStart", 0) > 0
        and events.get("SparkListenerApplicationEnd", 0) > 0
        and (report["application"]["duration_ms"] or 0) > 0
    )


def row(name: str, report: Dict[str, Any]) -> str:
    replay = report["replay"]
    error = 100.0 * (replay["replayed_ms"] - replay["measured_ms"]) / replay["measured_ms"]
    return f"| {name} | {replay['measured_ms']:,} | {replay['replayed_ms']:,} | {error:+.2f} | {replay['worst_job_ms']:,} |"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=str(ROOT / "build" / "pyrometer"))
    options.add_argument("--update-docs", action="store_true")
    options.add_argument("logs", nargs="*", type=Path)
    given = options.parse_args()
    rows, errors = [], []
    for log in given.logs or own_logs():
        for report in reports_of(given.binary, log):
            if not is_complete(report):
                continue
            name = log.stem if log.parent.name == "logs" else f"{log.parent.name}/{log.stem}"
            rows.append(row(name, report))
            errors.append(report["replay"]["error_share"])
    if not rows:
        print("no complete log", file=sys.stderr)
        return 1
    mean, worst = sum(errors) / len(errors), max(errors)
    table = ["| log | measured ms | replayed ms | error % | worst job ms |", "| --- | ---: | ---: | ---: | ---: |", *rows]
    summary = f"{len(rows)} runs: mean error {100 * mean:.2f} %, worst {100 * worst:.2f} %."
    text = "\n".join([summary, "", *table])
    if not given.update_docs:
        print(text)
        return 0
    page_parts.write_between(PAGE, BEGIN, END, [text])
    return 0


if __name__ == "__main__":
    sys.exit(main())
