#!/usr/bin/env python3
"""Source files stay short: a word above 600 lines, refused above 1,000; the public header, a manual, above 1,500."""

from __future__ import annotations

import project

SOFT, HARD = 600, 1000
LIMITS = {"include/pyrometer.h": 1500}


def main() -> None:
    problems: list[str] = []
    count = 0
    for path in project.files(".c", ".h", ".py", ".sh", ".def", ".build", ".ts", ".tsx", ".mjs", ".css", "dev"):
        count += 1
        lines = path.read_bytes().count(b"\n")
        most = LIMITS.get(str(project.relative(path)), HARD)
        if lines > most:
            problems.append(f"{project.relative(path)}: {lines} lines; split it ({most} at most)")
        elif lines > SOFT:
            print(f"note: {project.relative(path)}: {lines} lines; think of splitting it")
    project.finish(problems, f"{count} files")


if __name__ == "__main__":
    main()
