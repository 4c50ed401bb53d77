#!/usr/bin/env python3
"""Every relative link of the Markdown files leads to a file, and every anchor to a heading."""

from __future__ import annotations

import re
from pathlib import Path

import project

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.S | re.M)


def anchors(text: str) -> set[str]:
    """Anchors of a page, as Git forges make them from headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+\s+(.*?)\s*#*$", FENCE.sub("", text), re.M):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(plain.replace(" ", "-"))
    return found


def check(page: Path) -> list[str]:
    """Problems of one page."""
    problems = []
    text = page.read_text(encoding="utf-8")
    for match in LINK.finditer(re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))):
        link = match.group(1) or match.group(2)
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        if not target.exists():
            problems.append(f"{project.relative(page)}: {link} leads nowhere")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            problems.append(f"{project.relative(page)}: {link}: no such heading")
    return problems


def main() -> None:
    pages = list(project.files(".md"))
    problems = [problem for page in pages for problem in check(page)]
    project.finish(problems, f"{len(pages)} pages")


if __name__ == "__main__":
    main()
