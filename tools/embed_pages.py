#!/usr/bin/env python3
"""Turn a folder of Markdown pages into a C table (struct pyro_rule_page).

    embed_pages.py FOLDER OUTPUT.c DEPFILE
"""

from __future__ import annotations

import sys
from pathlib import Path

import embedding


def main() -> int:
    folder, output, depfile = (Path(arg) for arg in sys.argv[1:4])
    pages = sorted(page for page in folder.glob("*.md") if page.stem != "README")
    rows = [embedding.text_row(page.stem, page) for page in pages]
    embedding.write_table(output, "rules/pages.h", "pyro_rule_page", rows)
    embedding.write_depfile(depfile, output, folder, pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
