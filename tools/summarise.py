#!/usr/bin/env python3
"""Add up test results and end with one line: N passed, N failed, N skipped.

    summarise.py [--steps FILE] JUNIT.xml...

FILE has one line a step that is no test program: passed|failed|skipped, a tab,
its name, a tab, a reason. Every failure and the reason of every skip is shown.
A results file that is missing counts as one failure.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def last_line(text: str | None) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def read_junit(path: Path, counts: Counter[str], notes: list[str]) -> None:
    """Count one JUnit file."""
    try:
        tree = ElementTree.parse(path)
    except (OSError, ElementTree.ParseError) as error:
        counts["failed"] += 1
        notes.append(f"failed   {path}: no results: {error}")
        return
    for suite in tree.iter("testsuite"):
        suite_out = last_line(suite.findtext("system-out"))
        for case in suite.findall("testcase"):
            name = ".".join(part for part in (case.get("classname"), case.get("name")) if part)
            outcome, reason = "passed", ""
            for child in case:
                if child.tag in ("failure", "error"):
                    outcome = "failed"
                elif child.tag == "skipped" and outcome == "passed":
                    outcome = "skipped"
                    reason = child.get("message") or last_line(case.findtext("system-out")) or suite_out
            counts[outcome] += 1
            if outcome != "passed":
                notes.append(f"{outcome:8} {name}{': ' + reason if reason else ''}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Add up test results.")
    parser.add_argument("--steps", type=Path)
    parser.add_argument("junit", nargs="*", type=Path)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    notes: list[str] = []
    for path in arguments.junit:
        read_junit(path, counts, notes)
    if arguments.steps is not None and arguments.steps.exists():
        for line in arguments.steps.read_text(encoding="utf-8").splitlines():
            outcome, name, reason = (line.split("\t") + ["", ""])[:3]
            counts[outcome] += 1
            if outcome != "passed":
                notes.append(f"{outcome:8} {name}{': ' + reason if reason else ''}")
    for note in notes:
        print(note)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
