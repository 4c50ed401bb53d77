"""What tools/mutate.py exempts exists: a name that was removed would hide the next constant of that name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the tool lists the files that git knows")
def test_every_exempt_name_exists() -> None:
    listed = subprocess.run([sys.executable, str(ROOT / "tools" / "mutate.py"), "--list"], capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    assert "data-skew.tasks_min = " in listed.stdout and "exempt: " in listed.stdout
