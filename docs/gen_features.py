#!/usr/bin/env python3
"""Writes docs/features.md from src/analyze/features/*.def; with --check only says whether it is up to date (exit 1: stale)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "src" / "analyze" / "features"
PAGE = ROOT / "docs" / "features.md"
STRING = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(rf"^PYRO_FEATURE\((\w+), (INT|REAL), {STRING}, .*,\s+{STRING}\)$", flags=re.M)
HEAD = """# Features

<!-- Made by docs/gen_features.py from src/analyze/features/*.def: edit those, then run it. -->

`pyrometer export LOG --features tasks` and `--features stages` write a row of numbers for each ended task attempt or stage attempt
as CSV, for statistics and machine learning. `pyro_features_export()` of [pyrometer.h](../include/pyrometer.h) gives the same
columns as an Arrow C stream, which pandas, Polars, DuckDB, R and others import. Neither writes Arrow's file format.

The first columns are the key of a row, not features: `stage` and `stage_attempt` join tasks with their stages, and `task` joins them
with [the tables](tables.md). A value that the log does not have is empty in CSV and null in Arrow: it is not 0. Shares are 0 to 1.

The columns below *from traces of the kernel* need a folder that also has a trace and the plugin's records of threads, as
`pyrometer trace record` makes it ([trace](cli/trace.md)). They count what each wait came down to, through all threads that the task
waited for: the column `root` of the table `task_waits`. So a task that waits for a thread that computes counts as running.
"""
SECTIONS = [
    ("tasks", "Tasks", "A row for each row of the table `tasks`, in its order.", "traced_ms"),
    ("stages", "Stages", "A row for each row of the table `stages`, in its order.", "traced_tasks"),
]


def cell(text):
    return re.sub(r"\\(.)", r"\1", text).replace("|", "\\|").replace("<", "&lt;")


def page():
    lines = [HEAD]
    for name, title, what, first_traced in SECTIONS:
        text = re.sub(r"/\*.*?\*/", "", (ROWS / f"{name[:-1]}_features.def").read_text(encoding="utf-8"), flags=re.S)
        rows = ROW.findall(text)
        if len(rows) != text.count("PYRO_FEATURE("):
            sys.exit(f"{name[:-1]}_features.def: a column is written in a form that this script does not know")
        lines += [f"## {title}", "", what]
        for column, kind, unit, meaning in rows:
            if column in (rows[0][0], first_traced):
                lines += ["", f"### {title}: {'from the event log' if column == rows[0][0] else 'from traces of the kernel'}", ""]
                lines += ["| column | type | unit | meaning |", "| --- | --- | --- | --- |"]
            lines.append(f"| `{column}` | {'integer' if kind == 'INT' else 'real'} | {unit} | {cell(meaning)} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main():
    made = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != made:
        print("docs/features.md is stale: run docs/gen_features.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
