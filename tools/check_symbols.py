#!/usr/bin/env python3
"""Refuse a symbol without the pyro_ prefix.

    check_symbols.py libpyrometer.so LAYER.a...

The shared library may export pyro_ functions of the public header only; the
layers' archives may define no global symbol with another prefix, so that a
program that links them statically keeps its own names.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import project

SANITIZER = re.compile(r"^_*(asan|odr_asan|ubsan|sanitizer|lsan|sancov)")


def defined(library: str, *options: str) -> Iterator[str]:
    """Names of the global symbols that a library or archive defines."""
    listing = subprocess.run(
        ["nm", "--defined-only", "--extern-only", *options, library], check=True, capture_output=True, text=True
    ).stdout
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in "TDBRVWGSiuC":
            yield fields[2].split("@")[0]


def main() -> None:
    shared, *archives = sys.argv[1:]
    header = (project.ROOT / "include" / "pyrometer.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"\b(pyro_\w+)\s*\(", header))
    exported = {name for name in defined(shared, "--dynamic") if not SANITIZER.match(name)}
    problems = [f"{Path(shared).name} exports {name}, which is not in pyrometer.h" for name in exported - declared]
    promised = set(re.findall(r"PYRO_API[^;]*?\b(pyro_\w+)\s*\(", header))
    problems += [f"pyrometer.h declares {name}, which {Path(shared).name} lacks" for name in promised - exported]
    for archive in archives:
        for name in sorted(set(defined(archive))):
            if not name.startswith("pyro_") and not SANITIZER.match(name):
                problems.append(f"{Path(archive).name} defines {name} without the pyro_ prefix")
    project.finish(sorted(problems), f"{len(exported)} exported symbols, {len(archives)} archives")


if __name__ == "__main__":
    main()
