#!/usr/bin/env python3
"""Print the files of a table's rows, for meson: one file a row, named by the row's first word.

    list_rows.py TABLE.def MACRO 'verb_@.c'

For each row MACRO(name, ...) a line, with the name in place of @.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def names(table: Path, macro: str) -> list[str]:
    """First words of the rows, in order."""
    return re.findall(rf"^{macro}\((\w+)", table.read_text(encoding="utf-8"), re.M)


def main() -> None:
    table, macro, form = sys.argv[1:]
    found = names(Path(table), macro)
    if not found:
        sys.exit(f"{table} has no row {macro}(...)")
    for name in found:
        print(form.replace("@", name))


if __name__ == "__main__":
    main()
