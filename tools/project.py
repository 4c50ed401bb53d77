"""What the checks share: the files of the project, and how a check ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
SKIPPED_DIRS = {".git", ".cache", "__pycache__", ".pytest_cache", "node_modules", "build-dist", "dist", "subprojects"}
SKIP_STATUS = 77  # what meson counts as skipped


def files(*endings: str, under: str = ".") -> Iterator[Path]:
    """Files of the project whose names end so; builds and caches are not part of it."""
    for folder, dirs, names in os.walk(ROOT / under):
        dirs[:] = sorted(d for d in dirs if d not in SKIPPED_DIRS and not Path(folder, d, "meson-info").is_dir())
        for name in sorted(names):
            if name.endswith(endings):
                yield Path(folder, name)


def relative(path: Path) -> str:
    """A path as messages show it."""
    return path.relative_to(ROOT).as_posix()


def finish(problems: Iterable[str], done: str) -> None:
    """End the check: list the problems, or say what was looked at."""
    found = list(problems)
    for problem in found:
        print(problem)
    if found:
        sys.exit(f"{len(found)} problem{'s' if len(found) > 1 else ''}")
    print(done)


def skip(reason: str) -> None:
    """End the check as skipped."""
    print(f"skipped: {reason}")
    sys.exit(SKIP_STATUS)
