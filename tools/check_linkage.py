#!/usr/bin/env python3
"""The command links, or loads on demand, only libraries whose licence THIRD_PARTY.md gives.

    check_linkage.py build/pyrometer [build/src/libraries/libreferences.so]
"""

from __future__ import annotations

import re
import sys

import library_names
import project

# The C library, the compiler's runtime, and what sanitizers add to a test build.
SYSTEM = re.compile(r"^(libc|libm|libpthread|libdl|librt|ld-linux[\w-]*|libgcc_s|libstdc\+\+|lib[atlu]b?san|libubsan)\.so")
FORBIDDEN = re.compile(r"\bA?GPL", re.I)


def main() -> None:
    needed = sorted({name for module in sys.argv[1:] for name in library_names.needed(module)})
    rows = [
        line
        for line in (project.ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    problems = []
    for library in needed:
        stem = library.split(".so")[0]
        row = next((line for line in rows if f"`{stem}`" in line), None)
        if SYSTEM.match(library):
            continue
        if row is None:
            problems.append(f"{library} is linked, but `{stem}` is in no table of THIRD_PARTY.md")
        elif FORBIDDEN.search(re.sub(r"LGPL\S*", "", row)) and not re.search(r"\bor\b", row):
            problems.append(f"{library} is linked, but its licence is not one to link: {row.strip()}")
    project.finish(problems, f"links {', '.join(needed)}")


if __name__ == "__main__":
    main()
