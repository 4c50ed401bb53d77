"""What the embed_*.py share: texts and tables as C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def text_literal(path: Path, indent: int) -> str:
    """A text file as C string literals, one a line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return ("\n" + " " * indent).join(literal(line) for line in lines) or '""'


def text_row(name: str, path: Path) -> str:
    """A row of a table of names and texts."""
    return f'    {{"{name}",\n     {text_literal(path, 5)}}},\n'


def write_table(output: Path, header: str, struct: str, rows: Sequence[str], before: str = "") -> None:
    """Defines STRUCTs[] and STRUCT_count; C has no empty table, so that one without rows gets a row of zeros."""
    output.write_text(
        "/* Made while building. */\n"
        f'#include "{header}"\n\n'
        f"{before}"
        f"const struct {struct} {struct}s[] = {{\n{''.join(rows) or '    {0},' + chr(10)}}};\n"
        f"const size_t {struct}_count = {len(rows)};\n",
        encoding="ascii",
    )


def write_depfile(depfile: Path, output: Path, folder: Path, paths: Iterable[Path]) -> None:
    """Names the folder and its files, so that adding or editing one builds the output again."""
    names = " ".join(str(path).replace(" ", "\\ ") for path in [*([folder] if folder.is_dir() else []), *paths])
    depfile.write_text(f"{output}: {names}\n", encoding="utf-8")
