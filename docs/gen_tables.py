#!/usr/bin/env python3
"""Writes docs/tables.md from src/model/tables/*.def; with --check only says whether it is up to date (exit 1: stale)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "src" / "model" / "tables"
PAGE = ROOT / "docs" / "tables.md"
STRING = r'"((?:[^"\\]|\\.)*)"'
HEAD = """# Tables

<!-- Made by docs/gen_tables.py from src/model/tables/*.def: edit those, then run it. -->

`pyrometer sql LOG 'SELECT ...'` and `pyro_sql_query()` offer these tables to SQLite's SQL;
[`pyro_table_export()`](api.md#tables-as-arrow) gives them to other programs. They are read where they
lie, without a copy; only statements that read are accepted. Unknown values are `NULL`. Durations are milliseconds unless
a column's name says otherwise, times milliseconds since 1970-01-01 UTC, sizes bytes. The column `index` is a keyword of
SQL: write `"index"`. Looking up rows by an equality (`stage = 5`, joins) uses an index that is made on first use.

A statement may call SQLite's functions over values: texts, mathematics, aggregates, windows, times and JSON
([sql_functions.def](../src/query/functions.def) lists them). Others are refused, among them those that look into
the process (`load_extension`, `fts3_tokenizer`, tables such as `dbstat`) and `json_patch`. A value may have 16 MiB, a
result 500 columns, a statement 1,000,000 bytes. Sorting beyond a few megabytes goes to temporary files in
`$SQLITE_TMPDIR` or `$TMPDIR`: up to 16 GiB in the command, 512 MiB in [the server](serve.md#limits-on-requests).

    SELECT stage, count(*) AS tasks, max(run_ms) AS longest_ms FROM tasks GROUP BY stage ORDER BY longest_ms DESC LIMIT 5
"""


def rows(text, macro, count):
    """Arguments of each MACRO(...) row; adjacent C string literals are one."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"\s*\n\s*"', "", text)
    argument = rf"\s*(?:{STRING}|(\w+))\s*"
    for match in re.finditer(rf"^{macro}\({','.join([argument] * count)}\)", text, flags=re.M):
        groups = match.groups()
        yield [groups[i] if groups[i] is not None else groups[i + 1] for i in range(0, 2 * count, 2)]


def cell(text):
    return re.sub(r"\\(.)", r"\1", text).replace("|", "\\|").replace("<", "&lt;")


def page():
    lines = [HEAD]
    for name, doc in rows((TABLES / "tables.def").read_text(), "PYRO_TABLE", 2):
        lines += [f"## {name}", "", cell(doc) + ".", "", "| column | type | unit | meaning |", "| --- | --- | --- | --- |"]
        for column, kind, unit, meaning in rows((TABLES / f"{name}.def").read_text(), "PYRO_COLUMN", 4):
            kind = {"INT": "integer", "REAL": "real", "TEXT": "text"}[kind]
            lines.append(f"| `{column}` | {kind} | {unit} | {cell(meaning)} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main():
    made = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(made)
        return 0
    if not PAGE.exists() or PAGE.read_text() != made:
        print("docs/tables.md is stale: run docs/gen_tables.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
