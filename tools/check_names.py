#!/usr/bin/env python3
"""Refuse names that mean two things.

A tag of a struct, union or enum that a header defines, or that begins with pyro_, is defined once in src/. Other tags of a source
file are its own.

The functions that make, begin and end a thing (pyro_THING_new(), _open(), _done(), ...) are defined in one layer only: where two
layers have them, THING means two things."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import project

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
LIFE = "new|init|open|start|begin|retain|release|done|end|stop|close|free"
FUNCTION = re.compile(rf"^(?!static\b|typedef\b|#)[a-z][\w ]*?[ *](pyro_[a-z0-9_]+?)_({LIFE})\([^;{{}}]*\)\n\{{", re.M)


def blank(match: re.Match[str]) -> str:
    """A comment's lines, so that those after it keep their numbers."""
    return "\n" * match.group().count("\n")


def tag_problems(texts: dict[Path, str]) -> list[str]:
    places: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    for path, text in texts.items():
        for match in TAG.finditer(text):
            places[match.group(1)].append((path, text.count("\n", 0, match.start()) + 1))
    problems = []
    for tag, found in sorted(places.items()):
        shared = tag.startswith("pyro_") or any(path.suffix == ".h" for path, _ in found)
        if shared and len(found) > 1:
            others = ", ".join(f"{project.relative(path)}:{line}" for path, line in found[1:])
            problems.append(f"{project.relative(found[0][0])}:{found[0][1]}: {tag} is defined again in {others}")
    return problems


def prefix_problems(texts: dict[Path, str]) -> list[str]:
    layers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, text in texts.items():
        for match in FUNCTION.finditer(text):
            layer = path.relative_to(project.ROOT / "src").parts[0]
            layers[match.group(1)][layer].append(f"{match.group(1)}_{match.group(2)}()")
    problems = []
    for prefix, found in sorted(layers.items()):
        if len(found) > 1:
            where = "; ".join(f"{layer}: {', '.join(sorted(names))}" for layer, names in sorted(found.items()))
            problems.append(f"{prefix}_ means a thing of {len(found)} layers: {where}")
    return problems


def sources() -> dict[Path, str]:
    """The files of src/ without their comments."""
    return {path: COMMENT.sub(blank, path.read_text(encoding="utf-8")) for path in project.files(".c", ".h", ".inc", under="src")}


def problems() -> list[str]:
    texts = sources()
    return tag_problems(texts) + prefix_problems(texts)


def main() -> None:
    texts = sources()
    tags = {match.group(1) for text in texts.values() for match in TAG.finditer(text)}
    project.finish(problems(), f"{len(tags)} tags in {len(texts)} files")


if __name__ == "__main__":
    main()
