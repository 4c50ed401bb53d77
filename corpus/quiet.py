"""Runs on a machine that does nothing else, and their times by Spark's own events.

A run waits for a quiet machine. It is discarded if other programs used a processor meanwhile, or if the processors were slower
before or after it than they have been: other guests of the same host are not seen otherwise.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "record"))
import spark_runs as sr  # noqa: E402

QUIET_S, QUIET_SHARE, QUIET_WAIT_S = 5, 0.03, 900
FOREIGN_SHARE, ATTEMPTS = 0.06, 3
SAMPLE_S, DEPTH = 0.5, 8
KERNEL = 2  # the parent of the kernel's threads
SLOWER_MAX, WORK_BYTES = 1.12, 128 << 20
Row = dict[str, Any]
Result = TypeVar("Result")


class BusyMachineError(Exception):
    """Other programs used the processors."""


def busy_s() -> float:
    """Return the seconds that all processors have worked since the start of the machine."""
    words = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, *_ = (int(word) for word in words)
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet() -> None:
    """Wait until nothing else has run for some seconds; the load average would still be that of the run before."""
    end = time.monotonic() + QUIET_WAIT_S
    while True:
        before = busy_s()
        time.sleep(QUIET_S)
        if busy_s() - before < QUIET_SHARE * QUIET_S * (os.cpu_count() or 1):
            return
        if time.monotonic() > end:
            raise BusyMachineError(f"other programs used the processors for {QUIET_WAIT_S} s")


def work_s() -> float:
    """Return how long a fixed piece of work takes a processor now, the least of three."""
    block = bytes(1 << 20)
    times = []
    for _ in range(3):
        began, digest = time.perf_counter(), hashlib.sha256()
        for _ in range(WORK_BYTES >> 20):
            digest.update(block)
        times.append(time.perf_counter() - began)
    return min(times)


def check_speed(workdir: Path) -> float:
    """Return the time of that work; raise where it is much longer than the least that was seen on this machine."""
    kept = workdir / "least_work_s"
    now = work_s()
    least = min(now, float(kept.read_text(encoding="ascii"))) if kept.exists() else now
    kept.write_text(f"{least:.4f}", encoding="ascii")
    if now > SLOWER_MAX * least:
        raise BusyMachineError(f"the processors take {now / least:.2f} times as long as they did")
    return now


class Family:
    """The processor time of a process and of all that it started, sampled: ended ones count as last seen.

    The times of waited children would leave out Python workers, which have no waiting parent. What the kernel's own
    threads do meanwhile, such as writing files to the disk, is done for it too.
    """

    def __init__(self) -> None:
        self.used: dict[tuple[int, str], float] = {}
        self.kernel: dict[tuple[int, str], float] = {}  # what each thread had used before
        self.stop = threading.Event()
        self.thread: threading.Thread | None = None

    def watch(self, process: subprocess.Popen) -> None:
        """Begin to sample, when the process has started."""
        self.thread = threading.Thread(target=self._sample, args=(process.pid,), daemon=True)
        self.thread.start()

    def _sample(self, root: int) -> None:
        known = {root}
        while not self.stop.wait(SAMPLE_S):
            rows = list(processes())
            for _ in range(DEPTH):
                known |= {pid for pid, parent, _, _ in rows if parent in known}
            for pid, parent, started, used in rows:
                if pid in known:
                    self.used[pid, started] = used
                elif parent == KERNEL:
                    self.used[pid, started] = used - self.kernel.setdefault((pid, started), used)

    def seconds(self) -> float:
        """End sampling; return the seconds of all."""
        self.stop.set()
        if self.thread:
            self.thread.join()
        return sum(self.used.values())


def processes() -> Iterator[tuple[int, int, str, float]]:
    """Yield each process: its id, its parent's, when it started, and the processor time that it has used."""
    tick = os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        yield int(folder.name), int(words[1]), words[19], (int(words[11]) + int(words[12])) / tick


def run(
    venv: Path,
    workdir: Path,
    program: sr.Run,
    foreign_share: float = FOREIGN_SHARE,
    environment: dict[str, str] | None = None,
    draft: bool = False,
) -> tuple[Path, Row]:
    """Run a program to its end; return its log and its measures. A draft may run on a busy machine."""
    if not draft:
        wait_for_quiet()
        check_speed(workdir)
    family, busy, began = Family(), busy_s(), time.monotonic()
    try:
        sr.run_to_end(venv, workdir, program, workdir / "events", extra_env=environment, started=family.watch)
    finally:
        own = family.seconds()
    foreign = max(busy_s() - busy - own, 0) / ((time.monotonic() - began) * (os.cpu_count() or 1))
    if foreign > foreign_share and not draft:
        raise BusyMachineError(f"other programs used {100 * foreign:.0f} % of the processors")
    log = next(sr.logs_in(workdir / "events"))
    speed = {} if draft else {"work_s": round(check_speed(workdir), 3)}
    return log, {**measure(log), "foreign_share": round(foreign, 3), **speed}


def repeat(name: str, attempt: Callable[[], Result]) -> Result:
    """Return the result of an attempt, after some that were discarded because the machine was busy."""
    for left in reversed(range(ATTEMPTS)):
        try:
            return attempt()
        except BusyMachineError as error:
            print(f"{name}: discarded: {error}", file=sys.stderr, flush=True)
            if not left:
                raise
    raise AssertionError("there is at least one attempt")


def measure(log: Path) -> Row:
    """Return the run's time from its first executor's registration, and from its start, by Spark's own events."""
    begin = first = end = tasks = 0
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith('{"Event":"SparkListenerTaskEnd'):
                tasks += 1
            elif line.startswith('{"Event":"SparkListenerApplicationStart'):
                begin = json.loads(line)["Timestamp"]
            elif line.startswith('{"Event":"SparkListenerExecutorAdded') and not first:
                first = json.loads(line)["Timestamp"]
            elif line.startswith('{"Event":"SparkListenerApplicationEnd'):
                end = json.loads(line)["Timestamp"]
    return {"ms": end - first, "wall_ms": end - begin, "tasks": tasks}
