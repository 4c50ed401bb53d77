#!/usr/bin/env python3
"""Turn the bundle of web/ into a C table (struct pyro_web_asset).

    embed_web.py OUTPUT.c                          an empty table: this build has no web UI
    embed_web.py OUTPUT.c BUNDLE                   embeds the bundle that is in this folder
    embed_web.py OUTPUT.c NODE BUILD.mjs DEPFILE   runs NODE BUILD.mjs, then embeds what it made

BUILD.mjs writes the depfile: every file that went into the bundle.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import embedding

TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8"}
PER_LINE = 32


def array(data: bytes) -> str:
    """The bytes as a C initializer: numbers, since compilers limit the length of literals."""
    lines = (data[i : i + PER_LINE] for i in range(0, len(data), PER_LINE))
    return "\n".join("    " + "".join(f"{byte}," for byte in line) for line in lines)


def served_name(path: Path, names: dict[str, str]) -> str:
    """What the asset is asked for: script and style carry a hash of what is in them."""
    return {"app.js": names["script"], "app.css": names["style"]}.get(path.name, path.name)


def main() -> int:
    output = Path(sys.argv[1])
    assets: list[tuple[str, str, str, bytes]] = []
    if len(sys.argv) > 2:
        folder = Path(sys.argv[2])
        if len(sys.argv) > 3:
            node, build, depfile = sys.argv[2:5]
            folder = output.with_suffix(".web")
            done = subprocess.run([node, build, str(folder), depfile, str(output)], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
        names = json.loads((folder / "names.json").read_text(encoding="utf-8"))
        for path in sorted(folder.iterdir()):
            if path.suffix in TYPES:
                data = path.read_bytes()
                etag = hashlib.sha256(data).hexdigest()[:16]
                assets.append((served_name(path, names), TYPES[path.suffix], etag, data))
    arrays, rows = [], []
    for i, (name, kind, etag, data) in enumerate(assets):
        arrays.append(f"static const unsigned char asset_{i}[] = {{\n{array(data)}\n}};\n\n")
        rows.append(f'    {{"{name}", "{kind}", "\\"{etag}\\"", asset_{i}, sizeof(asset_{i})}},\n')
    embedding.write_table(output, "report/shared/web_assets.h", "pyro_web_asset", rows, before="".join(arrays))
    return 0


if __name__ == "__main__":
    sys.exit(main())
