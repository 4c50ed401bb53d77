#!/usr/bin/env python3
"""No tabs, trailing spaces, carriage returns or missing last newlines in text files."""

from __future__ import annotations

import project

ENDINGS = (".c", ".h", ".def", ".py", ".sh", ".md", ".build", ".json", ".yml", ".yaml", ".toml", ".txt", ".ts", ".tsx", ".mjs", ".css", ".html", "/dev")
DATA = ("tests/logs/", "tests/fuzz/corpus/", "tests/fuzz/regressions/", "corpus/logs/", "bench/data/")


def main() -> None:
    problems: list[str] = []
    count = 0
    for path in project.files(*ENDINGS, "dev", "run"):
        name = project.relative(path)
        if name.startswith(DATA):
            continue
        count += 1
        data = path.read_bytes()
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            problems.append(f"{name}: not UTF-8: {error}")
        if data and not data.endswith(b"\n"):
            problems.append(f"{name}: no newline at its end")
        for number, line in enumerate(data.split(b"\n"), 1):
            if b"\t" in line:
                problems.append(f"{name}:{number}: tab")
            if line.endswith((b" ", b"\r")):
                problems.append(f"{name}:{number}: space or carriage return at the end")
    project.finish(problems, f"{count} files")


if __name__ == "__main__":
    main()
