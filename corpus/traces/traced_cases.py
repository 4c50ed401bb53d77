"""Recorded traces: the fault of the machine, and what a diagnosis has to say of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Tuple


@dataclass(frozen=True)
class Case:
    program: str
    scale: int
    faults: Tuple[str, ...] = ()  # names in record.py, with their strength: "cpu_hog 2"
    expected: Tuple[str, ...] = ()  # rules
    culprit: Dict[str, str] = field(default_factory=dict)  # rule -> what its sentence names
    allowed: Tuple[str, ...] = ()  # rules about side effects
    conf: Dict[str, str] = field(default_factory=dict)


CASES: Dict[str, Case] = {
    "healthy-compute": Case("compute", 30),
    "healthy-python": Case("python", 25),
    "healthy-shuffle": Case("shuffle", 20),
    "cpu-hog": Case("compute", 20, ("cpu_hog 1",), ("cpu-contention",), {"cpu-contention": "python3 ("}),
    "cpu-hog-3": Case("compute", 12, ("cpu_hog 3",), ("cpu-contention",), {"cpu-contention": "python3 ("}),
    "cpu-hog-python": Case("python", 15, ("cpu_hog 2",), ("cpu-contention",), {"cpu-contention": "python3 ("}),
    "cpu-quota-50": Case("compute", 12, ("cpu_quota 50",), ("cpu-throttled",), allowed=("cpu-contention",)),
    "cpu-quota-30": Case("compute", 8, ("cpu_quota 30",), ("cpu-throttled",), allowed=("cpu-contention",)),
    "slow-disk": Case("shuffle", 12, ("loop_disk 4000000",), ("disk-bound",), conf={"spark.shuffle.sync": "true"},
                      allowed=("io-disturbed-by-spark",)),
    "slow-disk-8": Case("shuffle", 12, ("loop_disk 8000000",), ("disk-bound",), conf={"spark.shuffle.sync": "true"},
                        allowed=("io-disturbed-by-spark",)),
    "lock": Case("locked", 8, (), ("kernel-lock",), {"kernel-lock": "Executor task"}),
    "slow-peer": Case("ask", 3, ("slow_peer 40",), ("network-bound",)),
    "slow-peer-100": Case("ask", 2, ("slow_peer 100",), ("network-bound",)),
    "page-faults": Case("compute", 15, ("page_out 0.05",), ("page-faults",), allowed=("disk-bound",)),
    "single-bytes": Case("single_bytes", 4, (), ("small-io",)),
    "hog-and-peer": Case("ask", 3, ("cpu_hog 2", "slow_peer 40"), ("network-bound",), allowed=("cpu-contention",)),
    "hog-and-lock": Case("locked", 6, ("cpu_hog 2",), ("kernel-lock", "cpu-contention"),
                         {"kernel-lock": "Executor task", "cpu-contention": "python3 ("}),
}
