#!/usr/bin/env python3
"""Write the profilers as one archive for `spark-submit --py-files` or `SparkContext.addPyFile()`.

    python3 python/make_zip.py [FILE]        # pyrometer-profilers.zip
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "pyrometer"
FILE = "pyrometer-profilers.zip"


def make_zip(path: Path) -> Path:
    """Write the archive; equal sources give equal bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(PACKAGE.glob("*.py")):
            entry = zipfile.ZipInfo(f"{PACKAGE.name}/{file.name}")  # its time is 1980
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return path


if __name__ == "__main__":
    print(make_zip(Path(sys.argv[1] if len(sys.argv) > 1 else FILE)))
