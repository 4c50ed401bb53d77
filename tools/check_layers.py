#!/usr/bin/env python3
"""Refuse an include against the arrow of the layers (see ARCHITECTURE.md)."""

from __future__ import annotations

import re
from pathlib import Path

import project

ARROW = ["base", "libraries", "source", "text", "model", "decode", "analyze", "load", "history", "replay", "cost", "predict", "rules", "advice",
         "compare", "report", "store", "query", "export", "evaluate", "catalog", "fleet"]
# The command and the server use the public header; the server may also read the model, and look for logs.
TOPS = {"cli": {"cli"}, "serve": {"serve", "base", "libraries", "source", "text", "model", "report", "store", "load", "history", "query", "catalog", "fleet"}}
PUBLIC = "pyrometer.h"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def allowed(layer: str) -> set[str]:
    """The layers whose headers a file of `layer` may include."""
    if layer in TOPS:
        return TOPS[layer]
    return set(ARROW[: ARROW.index(layer) + 1])


def problem(path: Path, layer: str, target: str) -> str | None:
    """Why `path` may not include `target`, or None."""
    if target == PUBLIC:
        return None
    if ".." in target.split("/"):
        return f"includes {target}: name headers from src/, without '..'"
    if (path.parent / target).exists():
        return None
    first = target.split("/")[0]
    if first in ARROW or first in TOPS:
        if first in allowed(layer):
            return None
        return f"includes {target}: {layer} may include {', '.join(sorted(allowed(layer)))} and {PUBLIC} only"
    if "/" not in target and layer == "cli":
        return None  # made when building
    return None if (path.parent / target).parent.is_dir() else f"includes {target}, which is in no layer"


def main() -> None:
    problems: list[str] = []
    seen = 0
    for path in project.files(".c", ".h", ".def", ".inc", under="src"):
        layer = path.relative_to(project.ROOT / "src").parts[0]
        if layer not in ARROW and layer not in TOPS:
            problems.append(f"{project.relative(path)}: {layer} is no known layer; add it to tools/check_layers.py")
            continue
        seen += 1
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            what = problem(path, layer, match.group(1)) if match else None
            if what:
                problems.append(f"{project.relative(path)}:{number}: {what}")
    project.finish(problems, f"{seen} files include along the arrow")


if __name__ == "__main__":
    main()
