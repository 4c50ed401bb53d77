#!/usr/bin/env python3
"""Count, per rule, right findings, false alarms and misses over the recorded runs of one split."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def serious_rules(binary: str, log: Path) -> set[str]:
    """Return the rules with a finding above low."""
    command = [binary, "diagnose", "--format", "json", str(log)]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return {one["rule"] for one in report["findings"] if one["severity"] != "low"}


def score(binary: str, logs: list[dict[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Return the names of runs per rule and outcome."""
    rules: dict[str, dict[str, list[str]]] = {}
    for entry in logs:
        found = serious_rules(binary, HERE / entry["file"])
        expected, allowed = set(entry["expected"]), set(entry["allowed"])
        outcomes = {
            "right": expected & found,
            "missed": expected - found,
            "wrong": found - expected - allowed,
            "allowed": (found & allowed) - expected,
        }
        for outcome, names in outcomes.items():
            for rule in names:
                rules.setdefault(rule, {}).setdefault(outcome, []).append(Path(entry["file"]).stem)
    return rules


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(HERE.parent / "build" / "pyrometer"))
    parser.add_argument("--split", choices=("development", "held-out", "all"), default="held-out")
    options = parser.parse_args(argv)
    logs = json.loads((HERE / "manifest.json").read_text())["logs"]
    logs = [entry for entry in logs if options.split in ("all", entry["split"])]
    print(f"{len(logs)} runs, {sum(entry['healthy'] for entry in logs)} of them healthy\n")
    print("| rule | right | missed | false alarms | allowed beside |\n| --- | --- | --- | --- | --- |")
    totals = {"right": 0, "missed": 0, "wrong": 0, "allowed": 0}
    for rule, outcomes in sorted(score(options.binary, logs).items()):
        row = [outcomes.get(outcome, []) for outcome in totals]
        for outcome, names in zip(totals, row):
            totals[outcome] += len(names)
        named = [f"{len(n)} ({', '.join(n)})" if n and i in (1, 2) else f"{len(n)}" for i, n in enumerate(row)]
        print(f"| {rule} | {' | '.join(named)} |")
    print(f"| **all** | {' | '.join(str(total) for total in totals.values())} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
