#!/usr/bin/env python3
"""Run clang-tidy over C files, but not again over what it found clean.

    lint_c.py --build FOLDER --cache FOLDER [--all] [--nodes N] [--jobs N] FILE...

A file is skipped when it was clean with the same text, the same text of every
header that the compiler reads for it, the same compile command, the same
.clang-tidy and the same clang-tidy. --all skips none. --nodes bounds how many
states of the program clang's analyzer looks at in one function (its own limit:
225,000); nearly all the time goes there. What was clean without a bound is not
checked again with one. FOLDER is a build folder that was built: ninja knows
there which headers a file reads. The exit status is 1 when clang-tidy complains
about any file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# PYRO_MUST_CHECK: the command is gcc's, whose attribute clang does not know in C17; the header has another one for it.
OPTIONS = [
    *("--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-UPYRO_MUST_CHECK", "--warnings-as-errors=*"),
]


@lru_cache(maxsize=None)
def digest_of(path: str) -> bytes:
    """Hash of a file's text; of a missing one, of its name."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).digest()
    except OSError:
        return hashlib.sha256(path.encode()).digest()


def compile_commands(build: Path) -> dict[str, str]:
    """The compile command of each source file, by its real path."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {
        os.path.realpath(os.path.join(entry["directory"], entry["file"])): entry["command"]
        for entry in entries
    }


def headers_read(build: Path) -> dict[str, list[str]]:
    """Every file that the compiler read for each source file, as ninja noted it."""
    done = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = {}
    block: list[str] = []
    for line in [*done.stdout.splitlines(), ""]:
        if line.startswith("    "):
            block.append(os.path.realpath(build / line.strip()))
            continue
        if block:
            found.setdefault(block[0], block)
        block = []
    return found


def bound_of(nodes: int) -> list[str]:
    """The options that bound the analyzer; none for 0."""
    words = ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={nodes}"]
    return [f"--extra-arg={word}" for word in words] if nodes else []


def key_of(path: str, command: str, headers: list[str], tool: str) -> str:
    """What clang-tidy's answer about a file depends on; tool: its version and options."""
    total = hashlib.sha256(f"{tool}\n{command}\n".encode())
    for one in [str(ROOT / ".clang-tidy"), path, *sorted(set(headers))]:
        total.update(digest_of(one))
    return total.hexdigest()


def check(path: str, build: Path, options: list[str]) -> tuple[int, str]:
    """Run clang-tidy on one file; its exit status and what it printed."""
    command = ["clang-tidy", "-p", str(build), *options, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "warnings generated" not in line]
    return done.returncode, done.stdout + ("\n".join(errors) if done.returncode else "")


def main() -> int:
    parser = argparse.ArgumentParser(description="Run clang-tidy, but not again over what it found clean.")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--all", action="store_true", help="skip no file")
    parser.add_argument("--nodes", type=int, default=0, help="bound the analyzer in one function")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    tool = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    commands, headers = compile_commands(arguments.build), headers_read(arguments.build)
    options = [*OPTIONS, *bound_of(arguments.nodes)]
    wanted: list[tuple[str, Path]] = []
    for name in arguments.files:
        path = os.path.realpath(name)
        # As it is asked for now, then without a bound.
        clean, deeper = (
            arguments.cache / key_of(path, commands.get(path, ""), headers.get(path, []), f"{tool}\n{chosen}")
            for chosen in (options, OPTIONS)
        )
        known = clean if clean.exists() else deeper
        # Without a list of headers there is no way to know that nothing changed.
        if arguments.all or path not in headers or not known.exists():
            wanted.append((path, clean))
        else:
            known.touch()
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for (status, text), (path, clean) in zip(
            pool.map(lambda row: check(row[0], arguments.build, options), wanted), wanted
        ):
            if status:
                failed += 1
                print(text, file=sys.stderr, flush=True)
            elif path in headers:
                clean.touch()
    skipped = len(arguments.files) - len(wanted)
    print(f"clang-tidy: {len(wanted)} files checked, {skipped} unchanged, {failed} with complaints", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
