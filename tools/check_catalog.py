#!/usr/bin/env python3
"""Every row of a .def table has its documentation and a test that names it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import project

ROW = re.compile(r'^\s*[A-Z][A-Z0-9_]*\(\s*"?([A-Za-z0-9_.$-]+)"?')


@dataclass(frozen=True)
class Table:
    """One table: where it is, and the page of a row; without a page, any page that names the row will do."""

    path: str
    page: str | None = None
    counted: str | None = None  # last arguments of rows that are only counted: all alike, so none needs a test of its own
    prefix: str = ""  # of C names, which pages and tests leave out
    dashes: bool = False  # rows are C names, pages and tests use dashes


TABLES = [
    Table("src/rules/rules.def", "docs/rules/{}.md", prefix="pyro_rule_", dashes=True),
    Table("src/rules/profiles/profiles.def", "docs/profiles/{}.md"),
    Table("src/cli/verbs.def", "docs/cli/{}.md"),
    Table("src/source/codecs.def", prefix="pyro_codec_"),
    Table("src/decode/eventlog/events.def", counted="none, none"),
    Table("src/report/formats.def", prefix="pyro_format_"),
    Table("src/store/backends.def"),
    Table("src/compare/causes.def"),
    Table("src/predict/models.def"),
]


def rows(table: Table) -> list[tuple[str, bool]]:
    """Names of a table's rows, and whether each needs a test of its own."""
    text = (project.ROOT / table.path).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    names = []
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            name = match.group(1).removeprefix(table.prefix)
            tested = table.counted is None or not re.search(rf",\s*{table.counted}\)", line)
            names.append((name.replace("_", "-") if table.dashes else name, tested))
    return names


def read_all(paths: list[Path]) -> str:
    """The text of all of them."""
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


def is_named(text: str, name: str) -> bool:
    """Whether the text has the name as a word of its own: a class without its package, any case, '_', '-' or ' '."""
    word = re.sub(r"_|-", "[-_ ]", re.escape(re.split(r"[.$]", name)[-1]).replace(r"\-", "-"))
    return re.search(rf"(?<![a-z0-9]){word}(?![a-z0-9])", text, re.I) is not None


def main() -> None:
    docs = read_all(list(project.files(".md", under="docs")))
    tests = read_all(list(project.files(".c", ".py", ".json", ".jsonl", ".toml", ".build", under="tests")))
    problems: list[str] = []
    count = 0
    for table in TABLES:
        if not (project.ROOT / table.path).exists():
            problems.append(f"{table.path}: is missing")
            continue
        found = rows(table)
        if not found:
            problems.append(f"{table.path}: no row found")
        for name, tested in found:
            count += 1
            if table.page is not None and not (project.ROOT / table.page.format(name)).exists():
                problems.append(f"{table.path}: {name} has no page {table.page.format(name)}")
            elif table.page is None and not is_named(docs, name):
                problems.append(f"{table.path}: {name} is named nowhere in docs/")
            if tested and not is_named(tests, name):
                problems.append(f"{table.path}: {name} is named by no test")
    project.finish(problems, f"{count} rows have their documentation and a test")


if __name__ == "__main__":
    main()
