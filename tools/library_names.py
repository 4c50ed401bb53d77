#!/usr/bin/env python3
"""Write the file names of the libraries that are loaded on demand as a C header.

    library_names.py MODULE OUTPUT

The linker noted them in the module (src/libraries/references.c): libcurl.so.4
becomes PYRO_LIBCURL.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def needed(module: str) -> list[str]:
    """The libraries that a file is linked with, by the names that the dynamic linker looks for."""
    listing = subprocess.run(["readelf", "-d", "-W", module], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", listing)


def main() -> None:
    rows = [
        f'#define PYRO_{re.sub("[^A-Z0-9]", "_", name.split(".so")[0].upper())} "{name}"\n'
        for name in needed(sys.argv[1])
        if not name.startswith("libc.")
    ]
    Path(sys.argv[2]).write_text("/* Made by tools/library_names.py. */\n" + "".join(rows), encoding="ascii")


if __name__ == "__main__":
    main()
