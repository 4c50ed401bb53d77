#!/usr/bin/env python3
"""Texts that people read avoid the phrases that docs/STYLE.md lists.

The check reads the string literals of C files, all Markdown pages without their code, the public header, and the comments
of all sources. Names in comments are not read: words in backquotes, with an underscore, a slash or a dot inside.
"""

from __future__ import annotations

import io
import re
import tokenize
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
# The same for comments and pages. Texts of the command have a few of these, in outputs that are recorded.
IN_PROSE = (
    (r"gone|vanish(?:es|ed|ing)?", "removed, ended, no longer there"),
    (r"as (?:it was|they were)(?=\s*(?:[.,;:)]|$))|the runs? as (?:it was|they were)", "unchanged, the unchanged run"),
    (r"(?:is|are|was|were) there(?! (?:a|an|no|any)\b)", "exists, is available"),
    (r"told|tells? of", "said, reported, predicted, distinguished"),
    (r"(?:stands?|stood|standing)(?! for\b)", "is"),
    (r"but (?:for|where)", "except"),
    (r"(?<!there )(?:is|are|was|were) no (?!longer|more|other|less|further)\w+", "is not a ..."),
    (r"ought|shall|must needs|needs not", "should, must, need not"),
    (r"in silence|without a trace", "without a message"),
    (r"for ever|for good", "without limit, permanently"),
    (r"all the same", "nevertheless, also"),
    (r"apart by", "separated by"),
    (r"whence|thence|thus|hence|thereof|therein|whereof|upon", "a plain word"),
)
SPELLING = (
    (r"\w*(?:serialis|recognis|optimis|analys(?=ed?\b|ing\b)|summaris|anonymis|normalis|synchronis)\w*", "American spelling: z"),
    (r"colour\w*", "color"),
    (r"catalogues?", "catalog"),
    (r"labell\w+|modell\w+", "one l"),
    (r"misspelt|cancelled", "misspelled, canceled"),
)


def compiled(*lists: tuple[tuple[str, str], ...]) -> list[tuple[re.Pattern[str], str]]:
    phrases = (row for rows in lists for row in rows)
    return [(re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])", re.I), instead) for phrase, instead in phrases]


RULES = compiled(PHRASES, SPELLING)
PROSE_RULES = compiled(PHRASES, IN_PROSE, SPELLING)

C_TEXTS = ("src/",)
# Files whose comments are read.
SOURCES = (
    *(".c", ".h", ".def", ".java", ".css", ".py", ".ts", ".tsx", ".mjs"),
    *(".sh", "meson.build", "meson_options.txt", ".yaml", ".yml"),
)
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
# Comments of C and of TypeScript; texts are skipped, and lines of // that follow each other are one comment.
COMMENT = r"(?P<comment>/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*)"
C_COMMENTS = re.compile(rf"{QUOTED}|'(?:\\.|[^'\\\n])*'|{COMMENT}", re.S)
SCRIPT_COMMENTS = re.compile(rf"{QUOTED}|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|{COMMENT}", re.S)
HASH_COMMENTS = re.compile(r"(?:^|(?<=\s))(?P<comment>#(?!!)[^\n]*(?:\n[ \t]*#[^\n]*)*)", re.M)
LINE_START = re.compile(r"\n[ \t]*(?:\*+(?!/)|//+|#+)?[ \t]*")
NAMES = re.compile(r"`[^`]*`|\"[^\"]{0,80}\"|\w*[_/]\w*(?:[_/.]\w+)*|\w+\.\w+|\w+\(\)")


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


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Comments of Python, and texts that are statements of their own: documentation."""
    fresh = True
    comment: tuple[int, list[str]] = (0, [])
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != comment[0] + len(comment[1]):
                yield comment[0], "\n".join(comment[1])
                comment = (token.start[0], [])
            comment[1].append(token.string)
        elif token.type == tokenize.STRING and fresh:
            yield token.start[0], token.string.strip('"')
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    yield comment[0], "\n".join(comment[1])


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Line and content of each comment, as one line, without names."""
    text = path.read_text(encoding="utf-8")
    found: Iterator[tuple[int, str]]
    if path.suffix == ".py":
        found = docstrings(text)
    else:
        form = HASH_COMMENTS
        if path.suffix in (".c", ".h", ".def", ".java", ".css"):
            form = C_COMMENTS
        elif path.suffix in (".ts", ".tsx", ".mjs"):
            form = SCRIPT_COMMENTS
        matches = form.finditer(text)
        found = ((text.count("\n", 0, m.start()) + 1, m["comment"]) for m in matches if m["comment"])
    return ((number, clean(LINE_START.sub(" ", comment))) for number, comment in found)


def clean(comment: str) -> str:
    """A comment without the names of code."""
    return NAMES.sub("`", comment)


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """What is read of a page: of Markdown its prose, of anything else every line."""
    text = path.read_text(encoding="utf-8")
    return prose(text) if path.suffix == ".md" else enumerate(text.split("\n"), 1)


def check(path: Path, pieces: Iterator[tuple[int, str]], rules: list[tuple[re.Pattern[str], str]] = RULES) -> list[str]:
    name = project.relative(path)
    allowed = ALLOWED.get(name)
    problems = []
    for number, text in pieces:
        # Texts without a space are keys, names and fixed values.
        if " " not in text.strip() or (allowed and allowed.search(text)):
            continue
        for phrase, instead in rules:
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
        problems += check(path, lines(path), PROSE_RULES)
    for path in [*project.files(*SOURCES), project.ROOT / "dev"]:
        problems += check(path, comments(path), PROSE_RULES)
    project.finish(problems, f"{count} files")


if __name__ == "__main__":
    main()
