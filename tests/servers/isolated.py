"""A network of its own for programs that listen on all addresses, or on fixed ports: it has a loopback interface and no other."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import List, Sequence

from servers import Unavailable

# Where the command is killed, all that it started ends, too.
UNSHARE = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")


@lru_cache(maxsize=None)
def can_isolate() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*UNSHARE, "true"], check=False, capture_output=True).returncode == 0


def command(words: Sequence[str]) -> List[str]:
    """The command that runs these words in a network of their own."""
    if not can_isolate():
        raise Unavailable("a network namespace cannot be made here (unshare --net needs root)")
    return [*UNSHARE, sys.executable, str(Path(__file__).with_name("loopback_up.py").absolute()), *words]
