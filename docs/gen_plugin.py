#!/usr/bin/env python3
"""Writes the table of metrics in docs/plugin.md from the plugin's own; with --check only says whether it is up to date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
METRICS = ROOT / "jvm/src/main/java/io/pyrometer/spark/metrics/Metric.java"
PAGE = ROOT / "docs" / "plugin.md"
BEGIN, END = "<!-- gen_plugin.py: metrics -->\n", "<!-- gen_plugin.py: end of metrics -->"
STRING = r'"((?:[^"\\]|\\.)*)"'
SUM = re.compile(r'"\s*\+\s*"')
ROW = re.compile(rf"^    [A-Z_]+\(\s*{STRING},\s*Type\.([A-Z]+),\s*{STRING},\s*{STRING}((?:,\s*{STRING})*)\)[,;]", flags=re.M)


def table():
    lines = ["| metric | type | labels | meaning |", "| --- | --- | --- | --- |"]
    source = METRICS.read_text(encoding="utf-8")
    rows = list(ROW.finditer(SUM.sub("", source)))
    if len(rows) != len(re.findall(r"^    [A-Z_]+\(\s*\"spark_", source, flags=re.M)):
        sys.exit(f"{METRICS.name}: a metric is written in a form that this script does not know")
    for match in rows:
        name, kind, _, meaning, labels = match.groups()[:5]
        labels = ", ".join(f"`{label}`" for label in re.findall(STRING, labels))
        lines.append(f"| `{name}` | {kind.lower()} | {labels} | {meaning} |")
    return "\n".join(lines) + "\n"


def main():
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    made = before + BEGIN + table() + END + rest.split(END)[1]
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made, encoding="utf-8")
    elif made != text:
        print("docs/plugin.md is stale: run docs/gen_plugin.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
