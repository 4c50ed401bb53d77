#!/usr/bin/env python3
"""Texts that people read avoid the phrases that docs/STYLE.md lists.

The check reads the string literals of C files, all Markdown pages without their code, and the public header.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

import project

# A phrase (a regular expression of whole words, any case) and what to write instead.
PHRASES = (
    (r"from (?:\d[\d.,]*\s?\S*|so \w+|here|now|then|that|which) on", "at least ..., or ... or more"),
    (r"so (?:many|much|long|large|fast)(?!(?:\W+\w+){0,7}\W+that\b)", "this number, this share, this time, a multiple of ..."),
    (r"(?:dear|dearer|dearest)", "costly, expensive"),
    (r"(?:mend|mends|mended|mending)", "fix"),
    (r"whoever", "a user who ..., everyone who ..."),
    (r"beside (?:the|its|their|a|each|them|it|one)", "next to, outside, in addition to"),
    (r"(?:nobody|somebody)", "no one, someone; better: name who acts"),
    (r"anew", "again"),
    (r"once more", "again"),
    (r"(?:for|from) want of", "because of missing ..."),
    (r"in vain", "without success"),
    (r"failed? of it", "failed because of it"),
    (r"(?:cannot|can|could) be told", "cannot be predicted, is not known"),
    (r"tells? (?:apart|from)", "distinguish"),
    (r"told apart", "distinguished"),
    (r"as it was(?= as)", "the unchanged run"),
    (r"was told", "was predicted, was reported"),
    (r"were there", "were available"),
    (r"next to (?:no|none|nothing)", "almost no"),
    (r"put down to", "attributed to"),
    (r"living with it", "serve and share"),
    (r"looked at and left", "unchanged settings"),
    (r"with(?:out)? end", "unlimited, keeps ..."),
    (r"(?<!there )is no (?:YAML|JSON|text|number|list|map|store|token|log|event log|currency|unit|key|verb)", "is not a ..."),
    (r"room (?:beside|for it)", "memory overhead; space"),
    (r"1 (?:executors|tasks|stages|jobs|findings|cores|slots|runs|rules|settings|files)", "the singular"),
)
SPELLING = (
    (r"\w*(?:serialis|recognis|optimis|analys(?=e[ds]?\b|ing\b)|summaris|anonymis|normalis|synchronis)\w*", "American spelling: z"),
    (r"colour\w*", "color"),
    (r"catalogues?", "catalog"),
    (r"labell\w+|modell\w+", "one l"),
    (r"misspelt|cancelled", "misspelled, canceled"),
)
RULES = [(re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])", re.I), instead) for phrase, instead in PHRASES + SPELLING]

C_TEXTS = ("src/",)
PAGES = ("include/pyrometer.h",)
# Lines that may have a phrase, because they quote it or come from another project. Keep this short.
ALLOWED = {
    "ARCHITECTURE.md": re.compile(r"\*\*Analyses\*\*"),  # the plural of a noun
    "docs/STYLE.md": re.compile(r"^\| |no inversions|not \""),
    "src/export/vocabulary.def": re.compile(r""),
    "src/export/public_packages.def": re.compile(r""),
    "src/model/operators.def": re.compile(r""),
}
QUOTED = r"\"(?:\\.|[^\"\\\n])*\""
LITERALS = re.compile(
    rf"//[^\n]*|/\*.*?\*/|#[ \t]*include[^\n]*|'(?:\\.|[^'\\\n])*'|(?P<text>{QUOTED}(?:[\s\\]*{QUOTED})*)", re.S
)
JOINT = re.compile(r"\"[\s\\]*\"")


def literals(text: str) -> Iterator[tuple[int, str]]:
    """Line and content of each string literal of C; adjacent literals are one."""
    for match in LITERALS.finditer(text):
        if match["text"]:
            yield text.count("\n", 0, match.start()) + 1, JOINT.sub("", match["text"])[1:-1].replace("\\n", "\n")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Line and content of each line of a page that is not code."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if not fenced and not line.startswith("    "):
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)", "`", line)


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """What is read of a page: of Markdown its prose, of anything else every line."""
    text = path.read_text(encoding="utf-8")
    return prose(text) if path.suffix == ".md" else enumerate(text.split("\n"), 1)


def check(path: Path, pieces: Iterator[tuple[int, str]]) -> list[str]:
    name = project.relative(path)
    allowed = ALLOWED.get(name)
    problems = []
    for number, text in pieces:
        # Texts without a space are keys, names and fixed values.
        if " " not in text.strip() or (allowed and allowed.search(text)):
            continue
        for phrase, instead in RULES:
            for match in phrase.finditer(text):
                problems.append(f"{name}:{number}: \"{match[0]}\": write: {instead}")
    return problems


def main() -> None:
    problems: list[str] = []
    count = 0
    for folder in C_TEXTS:
        for path in project.files(".c", ".h", ".def", under=folder):
            count += 1
            problems += check(path, literals(path.read_text(encoding="utf-8")))
    for path in [*project.files(".md"), *(project.ROOT / page for page in PAGES)]:
        count += 1
        problems += check(path, lines(path))
    project.finish(problems, f"{count} files")


if __name__ == "__main__":
    main()
