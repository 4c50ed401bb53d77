#!/usr/bin/env python3
"""Add up test results, name what took longest, and end with one line: N passed, N failed, N skipped.

    summarise.py [--steps FILE] [--began SECONDS] JUNIT.xml...

FILE has one line a step that is not a test program: passed|failed|skipped, a tab, its name, a tab, a reason, a tab, its
seconds (or nothing). Every failure and the reason of every skip is shown. A results file that is missing counts as one
failure. SECONDS is when all of it began, since 1970.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

SHOWN = 10
GROUP = re.compile(r"@[^@\]]*$")  # what pytest-xdist adds to the name of a test


def last_line(text: str | None) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else ""


class Results:
    """What was counted, what is worth a note, and the seconds of each group."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []
        self.seconds: Counter[str] = Counter()

    def add(self, outcome: str, name: str, reason: str) -> None:
        self.counts[outcome] += 1
        if outcome != "passed":
            self.notes.append(f"{outcome:8} {name}{': ' + reason if reason else ''}")

    def read_junit(self, path: Path) -> None:
        """Count one JUnit file; a group is a test program, or a file of pytest."""
        try:
            tree = ElementTree.parse(path)
        except (OSError, ElementTree.ParseError) as error:
            self.add("failed", str(path), f"no results: {error}")
            return
        for suite in tree.iter("testsuite"):
            suite_out = last_line(suite.findtext("system-out"))
            for case in suite.findall("testcase"):
                name = ".".join(part for part in (case.get("classname"), GROUP.sub("", case.get("name") or "")) if part)
                outcome, reason = "passed", ""
                for child in case:
                    if child.tag in ("failure", "error"):
                        outcome = "failed"
                    elif child.tag == "skipped" and outcome == "passed":
                        outcome = "skipped"
                        reason = child.get("message") or last_line(case.findtext("system-out")) or suite_out
                self.add(outcome, name, reason)
                group = case.get("classname") or suite.get("name") or ""
                self.seconds[f"{path.stem}: {group}"] += float(case.get("time") or 0)

    def read_steps(self, path: Path) -> None:
        """Count the steps that are not test programs."""
        for line in path.read_text(encoding="utf-8").splitlines():
            outcome, name, reason, seconds = (line.split("\t") + ["", "", ""])[:4]
            if outcome != "time":
                self.add(outcome, name, reason)
            self.seconds[name] += float(seconds or 0)


def main() -> int:
    parser = argparse.ArgumentParser(description="Add up test results.")
    parser.add_argument("--steps", type=Path)
    parser.add_argument("--began", type=float)
    parser.add_argument("junit", nargs="*", type=Path)
    arguments = parser.parse_args()
    results = Results()
    for path in arguments.junit:
        results.read_junit(path)
    if arguments.steps is not None and arguments.steps.exists():
        results.read_steps(arguments.steps)
    print(f"the {SHOWN} slowest groups, in seconds of all processes:")
    for group, seconds in results.seconds.most_common(SHOWN):
        print(f"{seconds:8.1f}  {group}")
    if arguments.began is not None:
        total = time.time() - arguments.began
        print(f"{total:8.1f}  by the clock, all of it")
    for note in results.notes:
        print(note)
    counts = results.counts
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
