#!/usr/bin/env python3
"""Count the instructions of a diagnosis by callgrind: the same on every run, however busy the machine.

It reads bench/data/base-sql.zst, plain or as it is, on one thread, and prints the
count and the functions that take most of it. With --limit it ends with status 1
when the count is above, so that a check can refuse what makes Pyrometer slower.
valgrind knows no AVX-512: what is counted is the AVX2 scanner.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import amplify
import inputs

ROOT = Path(__file__).resolve().parents[1]


def counting(command: Sequence[str], out: Path) -> list[str]:
    """The command line that runs the command under callgrind, which writes into the file."""
    return [inputs.tool("valgrind"), "--tool=callgrind", f"--callgrind-out-file={out}", *command]


def counted(out: Path) -> int:
    """Instructions executed, from callgrind's file."""
    found = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if found is None:
        raise inputs.CannotRun("callgrind gave no total")
    return int(found.group(1))


def count(binary: Path, log: Path, folder: Path) -> tuple[int, Path]:
    """Instructions executed, and callgrind's file."""
    out = folder / "callgrind.out"
    command = [str(binary), "diagnose", "--format", "json", "--threads", "1", "-o", str(folder / "report"), str(log)]
    done = subprocess.run(counting(command, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise inputs.CannotRun(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-1000:]}")
    return counted(out), out


def top_functions(out: Path, most: int) -> list[tuple[int, str]]:
    """The functions with most instructions of their own."""
    command = [inputs.tool("callgrind_annotate", "valgrind"), "--threshold=100", str(out)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^ *([\d,]+)(?: \( *[\d.]+%\))?  (?:\S+?:)?(\S+)(?: \[.*\])?$", text, re.MULTILINE)
    rows = [(int(number.replace(",", "")), name) for number, name in found if name != "TOTALS"]
    return sorted(rows, reverse=True)[:most]


def report(binary: Path, compressed: bool, top: int) -> int:
    """Count, print, and give the count."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = amplify.read_base(amplify.BASE)
        log = amplify.BASE
        if not compressed:
            log = folder / "base.log"
            log.write_bytes(text)
        instructions, out = count(binary, log, folder)
        lines = text.count(b"\n")
        print(f"{instructions} instructions, {instructions / len(text):.3f} a byte, {instructions / lines:.0f} a line")
        for number, function in top_functions(out, top):
            print(f"{number:12d} {100 * number / instructions:5.1f} %  {function}")
    return instructions


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "pyrometer", help="pyrometer to measure")
    parser.add_argument("--zstd", action="store_true", help="read the compressed log")
    parser.add_argument("--top", type=int, default=15, help="functions to list (default 15)")
    parser.add_argument("--limit", type=int, help="status 1 when there are more instructions than this")
    options = parser.parse_args(argv)
    try:
        instructions = report(options.binary.absolute(), options.zstd, options.top)
    except (amplify.AmplifyError, inputs.CannotRun, subprocess.CalledProcessError, OSError) as error:
        print(f"instructions.py: {error}", file=sys.stderr)
        return 2
    if options.limit is not None and instructions > options.limit:
        print(f"instructions.py: more than {options.limit} instructions", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
