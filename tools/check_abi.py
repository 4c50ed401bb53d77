#!/usr/bin/env python3
"""Refuse a change of the library's interface that breaks programs which were linked with it.

    check_abi.py libpyrometer.so          compare with tools/abi/pyrometer.abi
    check_abi.py libpyrometer.so --write  write that file again

abidiff (abigail-tools) compares what pyrometer.h says of every function, struct
and enum with what it said before, whatever the build's own options are: it is
given a library of empty functions, which is compiled from the header alone with
debug information. check_symbols.py sees to it that the real library has exactly
these functions.

New functions, new values of an enum and new fields at the end of a struct, which
carries its size, are compatible. All else is refused: it needs another soname.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import project

HEADER = project.ROOT / "include" / "pyrometer.h"
DUMP = project.ROOT / "tools" / "abi" / "pyrometer.abi"
GROWN = re.compile(
    r"""^'struct \w+' changed:
  type size changed from (\d+) to \d+ \(in bits\)
  \d+ data member insertions?:
((?:    '.*', at offset \d+ \(in bits\)\n)+)""",
    re.M,
)


def empty_functions(header: str) -> str:
    """The header's functions, which do nothing."""
    bare = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    declared = re.findall(r"^PYRO_API ([^;{}]+\));", bare, flags=re.M)
    return '#include "pyrometer.h"\n' + "".join(f"{one}\n{{\n    __builtin_trap();\n}}\n" for one in declared)


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def soname_of(library: str) -> str:
    found = re.search(r"\(SONAME\).*\[(.+)\]", run("readelf", "--dynamic", "--wide", library))
    return found[1] if found else sys.exit(f"{library} has no soname")


def compile_interface(folder: str, header: Path, soname: str) -> str:
    """A library with nothing but the interface, and debug information of all its types."""
    Path(folder, "interface.c").write_text(empty_functions(header.read_text(encoding="utf-8")), encoding="utf-8")
    compiler = os.environ.get("CC", "cc").split()
    options = ["-g", "-O0", "-fPIC", "-shared", "-w", "-fno-eliminate-unused-debug-types", f"-Wl,-soname,{soname}"]
    library = str(Path(folder, "interface.so"))
    run(*compiler, *options, "-I", str(header.parent), str(Path(folder, "interface.c")), "-o", library)
    return library


def write(library: str) -> None:
    """Without places of this machine."""
    dump = run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", library)
    DUMP.write_text(re.sub(r" (?:comp-dir-path|path)='[^']*'", "", dump), encoding="utf-8")
    print(f"{project.relative(DUMP)}: {len(dump)} bytes")


def is_growth(block: re.Match[str]) -> bool:
    """Whether a struct only got fields behind all that it had. In its padding they would be read of older callers."""
    return all(int(offset) >= int(block[1]) for offset in re.findall(r"at offset (\d+)", block[2]))


def compare(library: str) -> str:
    """What changed and is not allowed, in abidiff's words; empty: nothing."""
    options = ["--leaf-changes-only", "--no-added-syms", "--no-architecture", "--no-show-locs"]
    done = subprocess.run(["abidiff", *options, str(DUMP), library], capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    rest = GROWN.sub(lambda block: "" if is_growth(block) else block[0], done.stdout)
    rest = re.sub(r"^(?:Leaf changes|Changed leaf types|Removed/Changed/Added \w+) summary:.*\n", "", rest, flags=re.M)
    return (rest + done.stderr).strip()


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    built, header = arguments[0], Path(arguments[1]) if len(arguments) > 1 else HEADER
    for program, package in (("abidiff", "abigail-tools"), ("readelf", "binutils"), ("cc", "gcc")):
        if not shutil.which(os.environ.get("CC", program).split()[0] if program == "cc" else program):
            project.skip(f"there is no {program}; it is of the package {package}")
    if struct.calcsize("P") != 8:
        project.skip("the file is of a machine with pointers of 64 bits")
    with tempfile.TemporaryDirectory() as folder:
        interface = compile_interface(folder, header, soname_of(built))
        if "--write" in sys.argv[1:]:
            write(interface)
            return
        changed = compare(interface)
    advice = "If this is meant, change the soname, then run tools/check_abi.py --write"
    problems = [f"{changed}\n{advice}"] if changed else []
    project.finish(problems, f"{soname_of(built)} is compatible with {project.relative(DUMP)}")


if __name__ == "__main__":
    main()
