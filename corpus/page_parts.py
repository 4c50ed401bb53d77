"""Write measured tables into pages, between the comments that mark their places."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List


def write_between(page: Path, begin: str, end: str, lines: List[str]) -> None:
    """Replace what a page has between two markers, which stay."""
    before, rest = page.read_text(encoding="utf-8").split(begin, 1)
    _, after = rest.split(end, 1)
    page.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + end + after, encoding="utf-8")


def update(page: Path, script: str, parts: Dict[str, List[str]]) -> None:
    """Write each part between the markers that name it and the script."""
    for name, lines in parts.items():
        write_between(page, f"<!-- {script}: {name} -->", f"<!-- {script}: end of {name} -->", lines)
