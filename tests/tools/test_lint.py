"""tools/lint_c.py: what it finds, and what it does not look at again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLEAN = "int twice(int a)\n{\n    return 2 * a;\n}\n"
FAULT = """#include <stddef.h>

int first(const int *values, int n);

int first(const int *values, int n)
{
    const int *found = n > 0 ? values : NULL;
    if (n > 7)
        return 0;
    return *found;
}
"""
RULE = (
    "rule cc\n  command = cc -MMD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
    "build one.o: cc one.c\nbuild two.o: cc two.c\n"
)

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("clang-tidy", "ninja", "cc"))), reason="no clang-tidy, ninja or cc"
)


def build_in(folder: Path, texts: dict[str, str]) -> None:
    """Compile these C files with ninja in FOLDER."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "build.ninja").write_text(RULE)
    commands = [
        {"directory": str(folder), "file": name, "command": f"cc -c {name}"} for name in texts
    ]
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    subprocess.run(["ninja", "-C", str(folder)], check=True, capture_output=True)


def lint(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    files = [str(folder / "one.c"), str(folder / "two.c")]
    command = [sys.executable, str(ROOT / "tools/lint_c.py"), "--build", str(folder)]
    command += ["--cache", str(folder / "cache"), *options, *files]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_is_found_and_what_is_not_checked_again(tmp_path: Path) -> None:
    (tmp_path / ".clang-tidy").write_text((ROOT / ".clang-tidy").read_text())
    build_in(tmp_path, {"one.c": CLEAN, "two.c": FAULT})
    bounded = lint(tmp_path, "--nodes", "25000")
    assert bounded.returncode == 1
    assert "core.NullDereference" in bounded.stderr
    assert "2 files checked, 0 unchanged, 1 with complaints" in bounded.stderr
    # What was clean is not checked again, what was not is.
    assert "1 files checked, 1 unchanged, 1 with complaints" in lint(tmp_path, "--nodes", "25000").stderr
    # The whole depth says more than a bounded look, and not the other way round.
    assert "2 files checked, 0 unchanged" in lint(tmp_path).stderr
    assert "1 files checked, 1 unchanged" in lint(tmp_path, "--nodes", "9000").stderr
    assert "2 files checked, 0 unchanged" in lint(tmp_path, "--nodes", "9000", "--all").stderr
