#!/usr/bin/env python3
"""No plain adding and subtracting of times from logs: these may be any number, and signed integers must not overflow.

Names of times end in _ms. src/base/numbers/saturate.h has what replaces the operators. Floating point, unsigned numbers, 128 bits,
comparisons, and lines that say "cannot overflow" are left alone, and so are folders that compute with their own clock only."""

from __future__ import annotations

import re

import project

TIME = r"\b\w*_ms(?:\[[^]]*\])?\)*"
PLAIN = re.compile(rf"{TIME}\s[-+]\s|[\w\])]\s[-+]\s\(*(?:\w+(?:->|\.))*{TIME}")
SAFE = re.compile(r"\(double\)|\(uint64_t\)\(?\w|\b1 - |> \w+ \? \w+ - 1\b|__int128|__builtin_\w+_overflow|pyro_real\(|\b(?:fmin|fmax|fabs|round|floor|real|trunc)\(")
COMPARED = re.compile(r"\([^()]*[<>][^()]*\) - \([^()]*[<>][^()]*\)")
OWN_CLOCK = ("src/cli/", "src/serve/http/", "src/serve/access/", "src/serve/upload_cpu.c")


def plain_lines(text: str) -> list[str]:
    """Without comments and strings; "cannot overflow" stays."""
    def blank(match: re.Match[str]) -> str:
        return ("cannot overflow" if "cannot overflow" in match.group() else "") + "\n" * match.group().count("\n")
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    return [re.sub(r'"(?:\\.|[^"\\])*"', '""', line) for line in text.split("\n")]


def declarators(text: str) -> list[str]:
    """The names in "a, *b[2] = f(c, d), e": values and what follows a closing bracket do not declare anything."""
    names: list[str] = []
    depth = 0
    expected, value = True, False
    for token in re.findall(r"\w+|->|.", text):
        if token in "([":
            depth += 1
        elif token in ")]":
            depth -= 1
            if depth < 0:
                break
        elif depth > 0 or token.isspace() or token in ("*", "const"):
            continue
        elif token == ",":
            expected, value = True, False
        elif token == "=":
            value = True
        elif expected and not value:
            names.append(token)
            expected = False
        elif not value:  # two words: the type of a further parameter
            names.pop()
            break
    return names


def declared(lines: list[str], types: str) -> set[str]:
    names: set[str] = set()
    for line in lines:
        for match in re.finditer(rf"\b(?:{types})\b\s+([^;{{}}]*)", line):
            names.update(name for name in declarators(match.group(1)) if name.endswith("_ms"))
    return names


def main() -> None:
    texts = {project.relative(path): plain_lines(path.read_text(encoding="utf-8")) for path in project.files(".c", ".h", under="src")}
    everything = [line for lines in texts.values() for line in lines]
    others = declared(everything, "double|uint64_t|unsigned") - declared(everything, "int64_t")
    problems = []
    for name, lines in texts.items():
        if name.startswith(OWN_CLOCK):
            continue
        known = others | declared(lines, "double|uint64_t")
        for number, line in enumerate(lines, 1):
            if "cannot overflow" in line or SAFE.search(line) or not PLAIN.search(COMPARED.sub("", line)):
                continue
            if set(re.findall(r"\b\w*_ms\b", line)) - known:
                problems.append(f"{name}:{number}: computes with times plainly (src/base/numbers/saturate.h): {line.strip()}")
    project.finish(problems, f"{len(texts)} files")


if __name__ == "__main__":
    main()
