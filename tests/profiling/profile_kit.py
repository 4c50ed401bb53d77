"""What the tests of profiles share."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any, List, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from conftest import ROOT, Run, binary_path, run_command  # noqa: E402

RECORDED = ROOT / "tests" / "artefacts" / "profiles"


def flame(*arguments: Any) -> Run:
    return run_command([str(binary_path()), "flame", *map(str, arguments)])


def folded(target: Path, *arguments: Any) -> List[Tuple[str, int]]:
    """Stacks and weights of a graph, in their order."""
    run = flame(*arguments, "-o", target)
    assert run.exit == 0, run.explain()
    lines = target.read_text().splitlines()
    return [(stack, int(weight)) for stack, _, weight in (line.rpartition(" ") for line in lines)]


def rows(path: Path) -> List[List[str]]:
    """What the decoder makes of a file: lines of tests/e2e/profile_rows.c."""
    run = run_command([str(binary_path().parent / "tests" / "e2e" / "profile_rows"), str(path)])
    assert run.exit == 0, run.explain()
    return [line.split("\t") for line in run.out.decode().splitlines()]


def unpacked(path: Path, target: Path) -> Path:
    target.write_bytes(gzip.decompress(path.read_bytes()))
    return target
