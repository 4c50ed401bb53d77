"""Lets single calls of the command fail, by the library that faults.c makes: the n-th of a kind, and what comes of it."""

from __future__ import annotations

import errno
import mmap
import os
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import conftest

KINDS = ("allocate", "write", "sync", "rename", "make", "open", "read", "thread", "unlink", "map", "stat", "print")
SHORT = 1  # instead of an error number: reads and writes do half of what is asked for
ERRORS: Dict[str, Tuple[int, ...]] = {
    "allocate": (errno.ENOMEM,),
    "write": (errno.ENOSPC, errno.EIO, errno.EINTR, -SHORT),
    "sync": (errno.EIO,),
    "rename": (errno.ENOSPC, errno.EACCES),
    "make": (errno.ENOSPC, errno.EMFILE),
    "open": (errno.EMFILE, errno.ENFILE),
    "read": (errno.EIO, errno.EINTR, -SHORT),
    "thread": (errno.EAGAIN,),
    "unlink": (errno.EIO,),
    "map": (errno.ENOMEM,),
    "stat": (errno.EIO,),
    "print": (errno.ENOSPC, errno.EINTR, -SHORT),
}
ALL = bool(os.environ.get("PYROMETER_FAULTS_ALL"))  # every call, as ./dev soak does; else some of each kind
LAYOUT = struct.Struct(f"{6 + len(KINDS)}i")


def library() -> Optional[Path]:
    """The library of the command that is tested, if its build has one."""
    path = conftest.binary_path().parent / "tests" / "faults" / "libfaults.so"
    return path if path.is_file() else None


class Fault(NamedTuple):
    kind: str
    error: int  # of errno, or -SHORT
    number: int  # of the call, from 0

    def __str__(self) -> str:
        how = "short" if self.error == -SHORT else errno.errorcode[self.error]
        return f"{self.kind} {self.number} ({how})"


class Control:
    """What the library should do, in a file that it has mapped too."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "control"
        self.path.write_bytes(bytes(LAYOUT.size))
        with self.path.open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), LAYOUT.size)
        self.clear()

    def environment(self) -> Dict[str, str]:
        return {**os.environ, "LD_PRELOAD": str(library()), "PYROMETER_FAULTS_CONTROL": str(self.path)}

    def clear(self) -> None:
        self.shared[:] = LAYOUT.pack(-1, 0, 0, -1, 0, 0, *[0] * len(KINDS))

    def arm(self, fault: Fault, times: int = 1) -> None:
        short = fault.error == -SHORT
        self.shared[:] = LAYOUT.pack(
            KINDS.index(fault.kind), int(short), 0 if short else fault.error, fault.number, times, 0, *[0] * len(KINDS)
        )

    def disarm(self) -> int:
        """How many calls failed."""
        fired = LAYOUT.unpack(self.shared[:])[5]
        struct.pack_into("i", self.shared, 12, -1)
        return fired

    def calls(self) -> Dict[str, int]:
        return dict(zip(KINDS, LAYOUT.unpack(self.shared[:])[6:]))


def chosen(calls: Dict[str, int], most: int) -> Iterator[Fault]:
    """Every call of each kind that was counted, or a limited number of them, spread over all."""
    for kind, errors in ERRORS.items():
        count = calls[kind]
        step = 1 if ALL or count <= most else count / most
        for i in range(count if step == 1 else most):
            for error in errors if ALL else errors[i % len(errors) :][:1] if count > most else errors:
                yield Fault(kind, error, int(i * step))


class Outcome(NamedTuple):
    exit: int
    out: bytes
    err: str
    fired: int


class Command:
    """Runs the command in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.control = Control(folder)
        self.temporary = folder / "tmp"
        self.temporary.mkdir()

    def run(self, arguments: Sequence[object], fault: Optional[Fault] = None, times: int = 1) -> Outcome:
        self.control.clear()
        if fault:
            self.control.arm(fault, times)
        done = subprocess.run(
            [str(conftest.binary_path()), *map(str, arguments)],
            env={**self.control.environment(), "TMPDIR": str(self.temporary)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=60,
        )
        return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"), self.control.disarm())

    def left_behind(self) -> List[str]:
        return sorted(entry.name for entry in self.temporary.iterdir())


def judge(fault: Fault, got: Outcome, good: Outcome, writes: bool = False) -> Optional[str]:
    """What is wrong with an outcome: it must be the good one, or a clear error."""
    where = f"{fault}: exit {got.exit}, {len(got.out)} bytes, {got.err[:300]!r}"
    if got.exit < 0:
        return f"ended by a signal: {where}"
    if got.exit == good.exit:
        return None if got.out == good.out else f"another answer: {where}"
    if got.exit not in (3, 4):
        return f"another exit: {where}"
    if not got.err.startswith("pyrometer: ") or not got.err.endswith("\n"):
        return f"no line that says why: {where}"
    if got.out and not writes and not good.out.startswith(got.out):
        return f"neither an answer nor none: {where}"
    return None


def scratch() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="faults-")
