#!/usr/bin/env python3
"""Every row of a .def table has its documentation and a test that names it; a rule's page has its sections in order.

README.md names the rows of some tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import project

ROW = re.compile(r'^\s*[A-Z][A-Z0-9_]*\(\s*"?([A-Za-z0-9_.$-]+)"?')
QUOTED_ROW = re.compile(r'^\s*[A-Z][A-Z0-9_]*\([^"]*"([A-Za-z0-9_.$-]+)"')

# Sections of a rule's page: what a reader in a hurry needs comes first.
RULE_SECTIONS = ["What it means", "How to see it", "How to fix it", "When it is quiet", "References", "Formulas"]


@dataclass(frozen=True)
class Table:
    """One table: where it is, and the page of a row; without a page, any page that names the row will do."""

    path: str
    page: str | None = None
    counted: str | None = None  # last arguments of rows that are only counted: all alike, so none needs a test of its own
    prefix: str = ""  # of C names, which pages and tests leave out
    dashes: bool = False  # rows are C names, pages and tests use dashes
    quoted: bool = False  # the name of a row is its first text, not its first argument
    readme: str | None = None  # the section of README.md that names every row


TABLES = [
    Table("src/rules/rules.def", "docs/rules/{}.md", prefix="pyro_rule_", dashes=True),
    Table("src/rules/profiles/profiles.def", "docs/profiles/{}.md"),
    Table("src/cli/verbs.def", "docs/cli/{}.md", readme="Use"),
    Table("src/source/codecs/codecs.def", prefix="pyro_codec_"),
    Table("src/decode/artefact_kinds.def", quoted=True, readme="Input"),
    Table("src/decode/eventlog/events.def", counted="none, none"),
    Table("src/report/formats.def", prefix="pyro_format_"),
    Table("src/store/backends.def", readme="Input"),
    Table("src/compare/causes.def"),
    Table("src/predict/models.def"),
]


def rows(table: Table) -> list[tuple[str, bool]]:
    """Names of a table's rows, and whether each needs a test of its own."""
    text = (project.ROOT / table.path).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    names = []
    for line in text.splitlines():
        match = (QUOTED_ROW if table.quoted else ROW).match(line)
        if match:
            name = match.group(1).removeprefix(table.prefix)
            tested = table.counted is None or not re.search(rf",\s*{table.counted}\)", line)
            names.append((name.replace("_", "-") if table.dashes else name, tested))
    return names


def readme_section(title: str) -> str:
    """The text of a section of README.md."""
    text = (project.ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(rf"^## {title}\n(.*?)^## ", text, re.M | re.S)
    return match.group(1) if match else ""


def read_all(paths: list[Path]) -> str:
    """The text of all of them."""
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


def is_named(text: str, name: str) -> bool:
    """Whether the text has the name as a word of its own: a class without its package, any case, '_', '-' or ' '."""
    word = re.sub(r"_|-", "[-_ ]", re.escape(re.split(r"[.$]", name)[-1]).replace(r"\-", "-"))
    return re.search(rf"(?<![a-z0-9]){word}(?![a-z0-9])", text, re.I) is not None


def check_rule_page(name: str, text: str) -> list[str]:
    """A page begins with its title and category and has the sections in this order, none of them empty."""
    problems = []
    sections = re.split(r"^## (.+)$", re.sub(r"^    .*$", "code", text, flags=re.M), flags=re.M)
    if re.match(rf"# [^`\n]+ \(`{re.escape(name)}`\)\n\nCategory: [a-z]+\.\n", text) is None:
        problems.append("does not begin with '# Title (`id`)' and its category")
    if sections[1::2] != RULE_SECTIONS:
        problems.append(f"has the sections {', '.join(sections[1::2])} instead of {', '.join(RULE_SECTIONS)}")
    problems += [f"says nothing in '{head}'" for head, body in zip(sections[1::2], sections[2::2]) if not body.strip()]
    see = dict(zip(sections[1::2], sections[2::2])).get("How to see it", "")
    parts = ["**Pyrometer's report**", "**Spark UI**"]
    problems += [f"'How to see it' has no {part}" for part in parts if part not in see]
    return [f"docs/rules/{name}.md: {problem}" for problem in problems]


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
            page = project.ROOT / table.page.format(name) if table.page is not None else None
            if page is not None and not page.exists():
                problems.append(f"{table.path}: {name} has no page {table.page.format(name)}")
            elif page is None and not is_named(docs, name):
                problems.append(f"{table.path}: {name} is named nowhere in docs/")
            if page is not None and page.exists() and page.parent.name == "rules":
                problems += check_rule_page(name, page.read_text(encoding="utf-8"))
            if table.readme is not None and not is_named(readme_section(table.readme), name):
                problems.append(f"{table.path}: {name} is missing in the section '{table.readme}' of README.md")
            if tested and not is_named(tests, name):
                problems.append(f"{table.path}: {name} is named by no test")
    project.finish(problems, f"{count} rows have their documentation and a test")


if __name__ == "__main__":
    main()
