#!/usr/bin/env python3
"""Turn a folder of Markdown pages into a C table (struct pyro_rule_page).

    embed_pages.py FOLDER OUTPUT.c DEPFILE

The depfile names the folder and its pages, so that adding or editing a page
rebuilds the table.
"""

from __future__ import annotations

import sys
from pathlib import Path


def literal(line: str) -> str:
    """One line of text as a C string literal, bytes beyond ASCII in octal."""
    out = []
    for byte in line.encode("utf-8"):
        char = chr(byte)
        if char in '"\\':
            out.append("\\" + char)
        elif 0x20 <= byte < 0x7F and char != "?":
            out.append(char)
        else:
            out.append(f"\\{byte:03o}")
    return '"' + "".join(out) + '\\n"'


def main() -> int:
    folder, output, depfile = (Path(arg) for arg in sys.argv[1:4])
    pages = sorted(page for page in folder.glob("*.md") if page.stem != "README")
    rows = []
    for page in pages:
        lines = page.read_text(encoding="utf-8").splitlines() or [""]
        text = "\n     ".join(literal(line) for line in lines)
        rows.append(f'    {{"{page.stem}",\n     {text}}},\n')
    if not rows:
        rows.append('    {"", ""},\n')
    output.write_text(
        "/* Made by tools/embed_pages.py. */\n"
        '#include "rules/pages.h"\n\n'
        f"const struct pyro_rule_page pyro_rule_pages[] = {{\n{''.join(rows)}}};\n"
        f"const size_t pyro_rule_page_count = {len(pages)};\n",
        encoding="ascii",
    )
    names = " ".join(str(path).replace(" ", "\\ ") for path in [*([folder] if folder.is_dir() else []), *pages])
    depfile.write_text(f"{output}: {names}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
