#!/usr/bin/env python3
"""Turn the price sheets of a folder into a C table (struct pyro_price_sheet).

    embed_prices.py FOLDER OUTPUT.c DEPFILE
"""

from __future__ import annotations

import sys
from pathlib import Path

import embedding


def main() -> int:
    folder, output, depfile = (Path(arg) for arg in sys.argv[1:4])
    sheets = sorted(folder.glob("*.yaml"))
    rows = [embedding.text_row(f"prices/{sheet.name}", sheet) for sheet in sheets]
    embedding.write_table(output, "cost/prices.h", "pyro_price_sheet", rows)
    embedding.write_depfile(depfile, output, folder, sheets)
    return 0


if __name__ == "__main__":
    sys.exit(main())
