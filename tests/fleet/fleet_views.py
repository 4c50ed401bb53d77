"""The views of a fleet, as the command's help lists them: a new view is in every test that goes through all of them."""

from __future__ import annotations

import re
import subprocess
from typing import List

from conftest import binary_path


def listed() -> List[str]:
    """The words below "Views:" without `model`, which has a document of its own."""
    text = subprocess.run([binary_path(), "help", "fleet"], capture_output=True, text=True, check=True).stdout
    section = re.search(r"^Views:\n((?: .*\n)+)", text, re.M)
    assert section, text
    names = re.findall(r"^    (\w+) ", section[1], re.M)
    return [name for name in names if name != "model"]


VIEWS = listed()
