"""The recorded traces of corpus/traces, unpacked once for each process of tests."""

from __future__ import annotations

import atexit
import shutil
import sys
import tarfile
import tempfile
from functools import lru_cache
from pathlib import Path

from conftest import ROOT

CORPUS = ROOT / "corpus" / "traces"
sys.path.insert(0, str(CORPUS))
from traced_cases import CASES, Case  # noqa: E402

__all__ = ["CASES", "Case", "unpacked"]


@lru_cache(maxsize=None)
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="pyrometer-traces-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@lru_cache(maxsize=None)
def unpacked(name: str) -> Path:
    """The folder of a run: its event log, its records of threads and its trace."""
    with tarfile.open(CORPUS / "logs" / f"{name}.tar.xz") as archive:
        archive.extractall(_folder())  # noqa: S202 - the project's own files
    return _folder() / name
