#!/usr/bin/env python3
"""Hold pyrometer.h to what it promises of every struct, and its version to that of the project.

    check_header.py VERSION

Every struct begins with its size, none is returned or held by value, and no
caller leaves a struct pyro_error without its size. The header compiles as C and
as C++, without any other one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import project

HEADER = project.ROOT / "include" / "pyrometer.h"
CALLERS = ("src", "tests", "bench")


def bare(text: str) -> str:
    """C without its comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def struct_problems(text: str) -> Iterator[str]:
    bodies = dict(re.findall(r"\bstruct (pyro_\w+) \{\n(.*?)\n\};", text, flags=re.S))
    for name, body in bodies.items():
        if not re.match(r"\s*size_t size;", body):
            yield f"pyrometer.h: struct {name} does not begin with 'size_t size'"
        for held in re.findall(r"^\s*(?:const )?struct (pyro_\w+) \w+(?:\[\w*\])?[;,]", body, flags=re.M):
            yield f"pyrometer.h: struct {name} holds a struct {held}: it could not grow"
    for name, function in re.findall(r"\bPYRO_API struct (pyro_\w+) (pyro_\w+)\(", text):
        yield f"pyrometer.h: {function}() returns a struct {name}: it could not grow"
    for name in re.findall(r"[(,]\s*(?:const )?struct (pyro_\w+) \w+[,)]", text):
        yield f"pyrometer.h: a struct {name} is handed over by value: it could not grow"


def version_problems(text: str, version: str) -> Iterator[str]:
    parts = [re.search(rf"^#define PYRO_VERSION_{part}\s+(\d+)$", text, re.M) for part in ("MAJOR", "MINOR", "PATCH")]
    said = ".".join(part[1] if part else "?" for part in parts)
    if said != version:
        yield f"pyrometer.h: PYRO_VERSION_* are {said}, and the project is {version}"


def caller_problems() -> Iterator[str]:
    """A member of a struct is set where the struct is made; a local variable, where it is."""
    for folder in CALLERS:
        for path in project.files(".c", under=folder):
            top = ""
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if line[:1].isalpha():
                    top = line
                unset = re.match(r"\s+struct pyro_error \w+(;| = \{0\})", line)
                if unset and not re.match(r"(typedef |static )*(struct|union)( \w+)? \{", top):
                    yield f"{project.relative(path)}:{number}: the size of this struct pyro_error is not set"


def compile_problems() -> Iterator[str]:
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", str(HEADER.parent)]
    for language, ending, compiler in (
        ("c11", ".c", os.environ.get("CC", "cc")),
        ("c++11", ".cpp", os.environ.get("CXX", "c++")),
    ):
        command = compiler.split()
        if not shutil.which(command[0]):
            print(f"note: there is no {command[0]}: pyrometer.h is not tried as {language}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "alone" + ending)
            source.write_text(
                "#include <pyrometer.h>\n#include <pyrometer.h>\nint main(void) { return PYRO_VERSION < 0; }\n"
            )
            command += [f"-std={language}", *warnings, str(source)]
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            yield f"pyrometer.h is not {language}:\n{done.stderr}"


def main() -> None:
    text = bare(HEADER.read_text(encoding="utf-8"))
    problems = [*struct_problems(text), *version_problems(text, sys.argv[1]), *caller_problems(), *compile_problems()]
    project.finish(problems, f"{text.count('size_t size;')} structs, version {sys.argv[1]}")


if __name__ == "__main__":
    main()
