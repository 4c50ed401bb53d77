#!/usr/bin/env python3
"""Refuse code that is written twice (lizard's extension "duplicate").

    check_repeats.py [--update]

Blocks of at least LINES lines that are equal except names and numbers count, in src/ and web/src/; tables above a
file's first function have equal shapes on purpose. What is accepted is in tools/repeats.txt: two files, and the longest
block that they share. A new pair is refused, and so is a longer block of an old one; --update writes the list again.
Needs lizard (tests/requirements.txt).
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import project

LINES = 10
MOST_UNREAD = 5  # files
FOLDERS = ("src", "web/src")
UNREAD = re.compile(r"Fail to parse file '([^']+)'")  # lizard 1.24.3 breaks on some correct TypeScript
BASELINE = project.ROOT / "tools" / "repeats.txt"
HEAD = "# What is written twice: lines of the longest block, two files; and what lizard cannot read. Made by tools/check_repeats.py --update\n"
BLOCK = re.compile(r"^Duplicate block:\n-+\n(.*?)\n\^+$", re.S | re.M)
PLACE = re.compile(r"^(?:\./)?(.+):(\d+) ~ (\d+)$", re.M)

Repeats = dict[tuple[str, str], tuple[int, str]]


@lru_cache(maxsize=None)
def first_function(path: Path) -> int:
    """The line at which a C file's first function begins."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.suffix == ".c" else []
    return next((number for number, line in enumerate(lines, 1) if line == "{"), 0)


def found(root: Path = project.ROOT, unread: list[str] | None = None) -> Repeats:
    """The longest block that two files (or one with itself) share, and where it is. Adds files that lizard cannot read."""
    unread = [] if unread is None else unread
    words = [sys.executable, "-m", "lizard", "-Eduplicate", "-l", "c", "-l", "typescript", "-l", "tsx", *FOLDERS]
    while True:
        left_out = [word for name in unread for word in ("-x", f"*{name}")]
        done = subprocess.run([*words, *left_out], cwd=root, capture_output=True, text=True, check=False)
        if "Total duplicate rate" in done.stdout:
            break
        failed = UNREAD.search(done.stderr)
        if not failed or len(unread) == MOST_UNREAD:
            sys.exit(f"lizard failed: {done.stderr.strip() or done.stdout[-500:]}")
        print(f"lizard cannot read {failed.group(1)}: left out")
        unread.append(failed.group(1))
    repeats: Repeats = {}
    for block in BLOCK.findall(done.stdout):
        places = [(name, int(first), int(last)) for name, first, last in PLACE.findall(block)]
        places = [place for place in places if place[2] > first_function(root / place[0])]
        for one, other in combinations(sorted(places), 2):
            lines = min(one[2] - one[1], other[2] - other[1]) + 1
            pair = (one[0], other[0])
            if lines >= LINES and lines > repeats.get(pair, (0, ""))[0]:
                repeats[pair] = (lines, f"{one[0]}:{one[1]}-{one[2]} and {other[0]}:{other[1]}-{other[2]}")
    return repeats


def known() -> tuple[dict[tuple[str, str], int], list[str]]:
    """What the list holds: pairs of files, and files that lizard cannot read (each costs a run that fails)."""
    rows = [line.split() for line in BASELINE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    pairs = {(row[1], row[2]): int(row[0]) for row in rows if row[0] != "unread"}
    return pairs, [row[1] for row in rows if row[0] == "unread"]


def main() -> None:
    before, unread = known()
    repeats = found(unread=unread)
    if sys.argv[1:] == ["--update"]:
        rows = sorted((pair, lines) for pair, (lines, _) in repeats.items())
        text = "".join(f"{lines} {one} {other}\n" for (one, other), lines in rows)
        BASELINE.write_text(HEAD + text + "".join(f"unread {name}\n" for name in unread), encoding="utf-8")
        print(f"{len(rows)} pairs of files")
        return
    problems = [
        f"{lines} lines are written twice: {where}; share them, or run tools/check_repeats.py --update"
        for pair, (lines, where) in sorted(repeats.items())
        if lines > before.get(pair, 0)
    ]
    gone = sum(pair not in repeats for pair in before)
    project.finish(problems, f"{len(repeats)} pairs of files share {LINES} lines or more; {gone} less than were listed")


if __name__ == "__main__":
    main()
