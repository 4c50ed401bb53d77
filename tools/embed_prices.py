#!/usr/bin/env python3
"""Turn the price sheets of a folder into a C table (struct pyro_price_sheet).

    embed_prices.py FOLDER OUTPUT.c DEPFILE
"""

from __future__ import annotations

import sys
from pathlib import Path

from embed_pages import literal


def main() -> int:
    folder, output, depfile = (Path(arg) for arg in sys.argv[1:4])
    sheets = sorted(folder.glob("*.yaml"))
    rows = []
    for sheet in sheets:
        lines = [line for line in sheet.read_text(encoding="utf-8").splitlines()]
        text = "\n     ".join(literal(line) for line in lines)
        rows.append(f'    {{"prices/{sheet.name}",\n     {text}}},\n')
    if not rows:
        rows.append('    {"", ""},\n')
    output.write_text(
        "/* Made by tools/embed_prices.py. */\n"
        '#include "cost/prices.h"\n\n'
        f"const struct pyro_price_sheet pyro_price_sheets[] = {{\n{''.join(rows)}}};\n"
        f"const size_t pyro_price_sheet_count = {len(sheets)};\n",
        encoding="ascii",
    )
    names = " ".join(str(path).replace(" ", "\\ ") for path in [*([folder] if folder.is_dir() else []), *sheets])
    depfile.write_text(f"{output}: {names}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
