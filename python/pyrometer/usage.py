"""Memory and processor use of this process: from /proc if the system has it, else from psutil if that is installed."""

from __future__ import annotations

import os
import time
from typing import NamedTuple, Optional

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

STATM = "/proc/self/statm"


class Memory(NamedTuple):
    """Bytes, and page faults since the start. None: the system does not say it."""

    rss: Optional[int]
    vms: Optional[int]
    page_faults: Optional[int]


def memory() -> Memory:
    """Return the memory of this process."""
    try:
        with open(STATM, "rb") as file:
            vms, rss = file.read().split()[:2]
        page = os.sysconf("SC_PAGE_SIZE")
        return Memory(int(rss) * page, int(vms) * page, page_faults())
    except (OSError, ValueError):
        return memory_by_psutil()


def memory_by_psutil() -> Memory:
    """Return the memory of this process where there is no /proc."""
    try:
        import psutil
    except ImportError:
        return Memory(None, None, page_faults())
    info = psutil.Process().memory_info()
    faults = getattr(info, "pfaults", getattr(info, "num_page_faults", None))
    return Memory(info.rss, info.vms, page_faults() if faults is None else faults)


def page_faults() -> Optional[int]:
    """Return how many page faults this process has had."""
    if resource is None:
        return None
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_minflt + used.ru_majflt


class ProcessorMeter:
    """The share of a core that this process used since the reading before, in percent."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def read(self) -> float:
        """Return the share since the last call or the creation."""
        wall, cpu = time.monotonic(), time.process_time()
        elapsed, used = wall - self._wall, cpu - self._cpu
        self._wall, self._cpu = wall, cpu
        return 100 * used / elapsed if elapsed > 0 else 0.0
