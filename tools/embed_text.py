#!/usr/bin/env python3
"""Turn a text file into a C string.

    embed_text.py FILE OUTPUT.c NAME

defines NAME[] and NAME_len (without the NUL at its end).
"""

from __future__ import annotations

import sys
from pathlib import Path

import embedding


def main() -> int:
    source, output, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    output.write_text(
        "/* Made while building. */\n"
        "#include <stddef.h>\n\n"
        f"extern const char {name}[];\n"
        f"extern const size_t {name}_len;\n"
        f"const char {name}[] =\n    {embedding.text_literal(source, 4)};\n"
        f"const size_t {name}_len = sizeof({name}) - 1;\n",
        encoding="ascii",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
