#!/usr/bin/env python3
"""Refuse functions that nothing calls, or only a unit test.

    check_dead_code.py build/pyrometer

The command is linked again with all of the library, the exported functions being needed, and the linker says which
functions it can leave out (--gc-sections). One that the compiler put into its callers is left out too: it counts as
called if its name occurs where it is neither declared nor defined. Needs a build with -ffunction-sections, as
meson.build makes it.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import project

# What is kept though nothing calls it, and why.
KEPT = {
    "pyro_history_follower_feed": "unit tests give a history its events one by one, cut anywhere",
    "pyro_reader_codec": "unit tests ask which codec was recognised",
    "pyro_row_table_bytes": "unit tests look at what rows cost",
}

# Parts of a function, and copies of it that the compiler made.
PART = re.compile(r"\.(cold|part|constprop|isra|lto_priv)\b.*")
PREFIX = re.compile(r"^\.text\.(unlikely\.|hot\.|startup\.|exit\.)?")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def link_command(build: Path, target: str) -> list[str]:
    """How ninja links the command."""
    listing = subprocess.run(
        ["ninja", "-C", str(build), "-t", "commands", target], check=True, capture_output=True, text=True
    ).stdout
    return shlex.split(listing.strip().splitlines()[-1])


def exported() -> set[str]:
    """Functions that the public header promises."""
    header = (project.ROOT / "include" / "pyrometer.h").read_text(encoding="utf-8")
    return set(re.findall(r"PYRO_API[^;]*?\b(pyro_\w+)\s*\(", header))


def left_out(build: Path, target: str, roots: set[str]) -> dict[str, str]:
    """Functions that the linker leaves out, with the object files that define them."""
    words = link_command(build, target)
    with tempfile.TemporaryDirectory() as folder:
        words[words.index("-o") + 1] = str(Path(folder, "linked"))
        linked = []
        for word in words:
            ours = word.endswith(".a") and not word.startswith("/")
            linked += ["-Wl,--whole-archive", word, "-Wl,--no-whole-archive"] if ours else [word]
        options = ["-Wl,--gc-sections", "-Wl,--print-gc-sections", *(f"-Wl,--undefined={name}" for name in sorted(roots))]
        done = subprocess.run(linked + options, cwd=build, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, str] = {}
    for section, place in re.findall(r"removing unused section '([^']+)' in file '([^']+)'", done.stderr):
        if section.startswith(".text.") and not place.startswith("/"):
            found[PART.sub("", PREFIX.sub("", section))] = place
    return found


def is_called(name: str, texts: list[str]) -> bool:
    """Whether the name is in a function's body or in a table."""
    use = re.compile(rf"\b{name}\b")
    for text in texts:
        for match in use.finditer(text):
            line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            # Declarations and definitions begin in the first column, with a type.
            if line[:1].isspace() or line.startswith("#") or "=" in line:
                return True
    return False


def main() -> None:
    command = Path(sys.argv[1]).resolve()
    build = command.parent
    roots = exported()
    found = left_out(build, command.name, roots)
    sources = [COMMENT.sub("", path.read_text(encoding="utf-8")) for path in project.files(".c", ".h", ".def", under="src")]
    if not found:
        project.skip("this linker names nothing that it leaves out")
    dead = sorted(name for name in found if name not in KEPT and not is_called(name, sources))
    problems = [f"{found[name]}: nothing calls {name}()" for name in dead]
    problems += [f"{name}() is in the list of what is kept, but it is called or gone" for name in KEPT if name not in found]
    project.finish(problems, f"{len(roots)} exported functions and the command reach all others")


if __name__ == "__main__":
    main()
