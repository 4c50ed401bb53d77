"""tools/check_abi.py: which changes of pyrometer.h it lets pass, and which it refuses."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, binary_path

HEADER = (ROOT / "include" / "pyrometer.h").read_text(encoding="utf-8")
CHECK = ROOT / "tools" / "check_abi.py"
VERSION = "PYRO_API const char *pyro_version(void);"
LAST_FIELD = "    uint64_t dead_executors;\n"
COMPATIBLE = {
    "nothing": (VERSION, VERSION),
    "a field at the end": (LAST_FIELD, LAST_FIELD + "    uint64_t more;\n"),
    "a function": (VERSION, VERSION + "\nPYRO_API int pyro_new(int number);"),
    "a value of an enum": ("    PYRO_REMOTE_REST = 2", "    PYRO_REMOTE_MORE = 3,\n    PYRO_REMOTE_REST = 2"),
}
INCOMPATIBLE = {
    "a function goes": (VERSION, ""),
    "another result": (VERSION, "PYRO_API int pyro_version(void);"),
    "another parameter": ("pyro_gate_passed(const pyro_gate *gate)", "pyro_gate_passed(const pyro_gate *gate, int n)"),
    "fields change places": ("uint64_t jobs, stages;\n    uint64_t executions;", "uint64_t executions, jobs, stages;"),
    "a field between others": ("    unsigned threads; /* 0:", "    int more[4];\n    unsigned threads; /* 0:"),
    "a field in the padding": ("    int passed;\n};", "    int passed;\n    int more;\n};"),
    "another type of a field": ("    double confidence;", "    float confidence;"),
    "a struct within a struct": ("const struct pyro_retained_limits *retained", "struct pyro_retained_limits retained"),
    "another callback": ("(*write)(void *context, const void *", "(*write)(int more, void *context, const void *"),
    "another number of an enum": ("PYRO_ERROR_OUTPUT = 4,", "PYRO_ERROR_OUTPUT = 14,"),
}


def check(folder: Path, before: str, after: str) -> subprocess.CompletedProcess[str]:
    library = binary_path().parent / "libpyrometer.so"
    if not shutil.which("abidiff") or not library.is_file():
        pytest.skip("there is no abidiff (abigail-tools), or no library beside the command")
    assert before in HEADER
    changed = folder / "pyrometer.h"
    changed.write_text(HEADER.replace(before, after, 1), encoding="utf-8")
    command = [sys.executable, str(CHECK), str(library), str(changed)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("name", COMPATIBLE)
def test_compatible(tmp_path: Path, name: str) -> None:
    done = check(tmp_path, *COMPATIBLE[name])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", INCOMPATIBLE)
def test_incompatible(tmp_path: Path, name: str) -> None:
    done = check(tmp_path, *INCOMPATIBLE[name])
    assert done.returncode == 1 and "change the soname" in done.stdout, done.stdout + done.stderr
