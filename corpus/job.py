"""What a job of the corpus is, and the conditions under which a log may carry its label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

Numbers = dict[str, Any]
SPARK_3 = "3.5.6"
SPARK_4 = "4.3.0"


@dataclass(frozen=True)
class Cluster:
    """A standalone master with one worker on each loopback address.

    `slow` names the process to slow down, a worker's address or "driver" or "shuffle service" (of the first worker);
    it is stopped (SIGSTOP) for the first and runs for the second of `duty` milliseconds, from `after_s` on.
    """

    hosts: tuple[str, ...] = ("127.0.0.1", "127.0.0.2")
    cores: int = 1
    slow: str = ""
    duty: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Job:
    """One recorded application and what it must show."""

    name: str
    notes: str
    shows: Callable[[Numbers], bool]
    expected: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    master: str = "local-cluster[2,2,1024]"
    cluster: Cluster | None = None  # then the master is a standalone one
    version: str = SPARK_3
    conf: dict[str, str] = field(default_factory=dict)
    repaired: str | None = None  # name of the job without the fault
    script: str | None = None  # whose code it runs, where not its own
    healthy: bool = True  # without expected rules nothing above low may be found; False: only what is allowed
    packages: tuple[str, ...] = ()  # that the job needs beside pyspark
    split: str = "development"  # or "held-out": recorded when the rules were written already
    noted: tuple[str, ...] = ()  # rules that must say something, if only `low`
    fails: bool = False  # the application ends with an error


def slowest(numbers: Numbers) -> tuple[float, float]:
    """Return how often the longest task's time and data exceed the median's."""
    stage = numbers["longest_stage"]
    time = stage["max_ms"] / max(1, stage["median_ms"])
    data = stage["longest_task_read_bytes"] / max(1, stage["median_read_bytes"])
    return time, data


def is_skewed(numbers: Numbers) -> bool:
    """The longest task takes and reads at least five times the median."""
    return min(slowest(numbers)) > 5


def is_straggling(numbers: Numbers) -> bool:
    """The longest task takes five times the median with no more data."""
    time, data = slowest(numbers)
    return time > 5 and data < 1.3


def is_healthy(numbers: Numbers) -> bool:
    """Long, well filled, nothing lost, nothing spilled, little garbage."""
    return (
        numbers["duration_ms"] > 65_000
        and numbers["no_executor_share"] < 0.15
        and numbers["driver_share"] < 0.1
        and numbers["slots_busy_share"] > 0.75
        and numbers["gc_share"] < 0.1
        and numbers["disk_spill_bytes"] == 0
        and set(numbers["task_end_reasons"]) == {"Success"}
    )


def long_stage(numbers: Numbers, key: str) -> float:
    """Return one number of the stage with the longest task."""
    return numbers["longest_stage"][key]


NO_COALESCE = {"spark.sql.adaptive.coalescePartitions.enabled": "false"}
FILE_PER_TASK = {"spark.sql.files.maxPartitionBytes": "36m"}
# what a run of under a minute honestly brings along: start-up is a large share of it
SHORT = ("resource-wait",)
