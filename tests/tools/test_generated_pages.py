"""Pages that scripts make from sources are up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

SCRIPTS = sorted((ROOT / "docs").glob("gen_*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_page_is_up_to_date(script: Path) -> None:
    run = subprocess.run([sys.executable, str(script), "--check"], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
