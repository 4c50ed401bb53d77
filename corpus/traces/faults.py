"""Faults of machines, planted around a run and taken away again: each is a context manager. Linux and root only.

What is changed belongs to these runs: groups of processes, a loop device, an interface. Nothing of the system is left changed,
also when the run fails.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import heapq
import itertools
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Tuple

PREFIX = "pyrometer-fault-"
CGROUPS = Path("/sys/fs/cgroup")
LIBC = ctypes.CDLL(None, use_errno=True)
_serial = itertools.count()

def _own_name() -> str:
    """A name that says which process made the thing, so that `sweep` can tell."""
    return f"{PREFIX}{os.getpid()}-{next(_serial)}"


def _die_with_parent() -> None:
    """Have the kernel end this child when its parent ends (for preexec_fn)."""
    LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)


def _run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _stop(children: Iterable["subprocess.Popen[bytes]"]) -> None:
    for child in children:
        child.kill()
    for child in children:
        child.wait()


# ---- CPU hog ----

_HOG = "import itertools\nfor _ in itertools.repeat(None): pass\n"


@contextlib.contextmanager
def cpu_hog(cpus: Sequence[int], per_cpu: int = 1, nice: int = 0) -> Iterator[List[int]]:
    """Busy processes pinned to `cpus`; gives their process ids."""
    hogs: List[subprocess.Popen[bytes]] = []

    def prepare(cpu: int) -> Callable[[], None]:
        def before_exec() -> None:
            _die_with_parent()
            os.sched_setaffinity(0, {cpu})
            os.nice(nice)
        return before_exec

    try:
        for cpu in cpus:
            for _ in range(per_cpu):
                hogs.append(subprocess.Popen([sys.executable, "-S", "-c", _HOG], preexec_fn=prepare(cpu)))
        yield [hog.pid for hog in hogs]
    finally:
        _stop(hogs)


# ---- Control groups (version 2 where it has the controller, else version 1) ----

def _controller_home(controller: str) -> Tuple[Path, int]:
    """Where groups with `controller` are made, and the version of that hierarchy."""
    v1 = CGROUPS / controller
    if (v1 / "cgroup.procs").exists():
        return v1, 1
    for root in (CGROUPS, CGROUPS / "unified"):
        listed = root / "cgroup.controllers"
        if listed.exists() and controller in listed.read_text().split():
            return root, 2
    raise RuntimeError(f"no control group hierarchy offers {controller}")


def _group_of(pid: int, hierarchy: Path, version: int) -> Path:
    """The group `pid` is in, so that it can be put back there."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if (version == 2 and controllers == "") or hierarchy.name in controllers.split(","):
            return hierarchy / path.lstrip("/")
    return hierarchy


@dataclass
class Group:
    """A control group of ours; processes that join go back to where they were."""

    path: Path
    version: int
    home: Path
    came_from: Dict[int, Path] = field(default_factory=dict)

    def add(self, pid: int) -> None:
        """Move `pid`, all its threads, in."""
        self.came_from.setdefault(pid, _group_of(pid, self.home, self.version))
        (self.path / "cgroup.procs").write_text(str(pid))

    def write(self, name: str, value: str) -> None:
        (self.path / name).write_text(value)


def _empty_and_remove(path: Path, came_from: Dict[int, Path], home: Path) -> None:
    deadline = time.monotonic() + 5
    while path.exists():
        for pid in (path / "cgroup.procs").read_text().split():
            back = came_from.get(int(pid), home)
            with contextlib.suppress(OSError):
                (back / "cgroup.procs").write_text(pid)
        try:
            path.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextlib.contextmanager
def _group(controller: str, pids: Iterable[int], settings: Callable[[Group], None]) -> Iterator[Group]:
    home, version = _controller_home(controller)
    enabled_here = False
    control = home / "cgroup.subtree_control"
    if version == 2 and controller not in control.read_text().split():
        control.write_text(f"+{controller}")
        enabled_here = True
    group = Group(home / _own_name(), version, home)
    group.path.mkdir()
    try:
        settings(group)
        for pid in pids:
            group.add(pid)
        yield group
    finally:
        _empty_and_remove(group.path, group.came_from, home)
        if enabled_here:
            control.write_text(f"-{controller}")


# ---- CPU quota ----

@contextlib.contextmanager
def cpu_quota(pids: Iterable[int] = (), percent: float = 20, period_us: int = 100_000) -> Iterator[Group]:
    """Let `pids` (and their later children) have `percent` of one CPU together."""
    quota = max(1000, int(period_us * percent / 100))

    def settings(group: Group) -> None:
        if group.version == 2:
            group.write("cpu.max", f"{quota} {period_us}")
        else:
            group.write("cpu.cfs_period_us", str(period_us))
            group.write("cpu.cfs_quota_us", str(quota))

    with _group("cpu", pids, settings) as group:
        yield group


# ---- Slow disk ----

def device_of(path: "str | os.PathLike[str]") -> str:
    """MAJOR:MINOR of the block device under `path`."""
    number = os.stat(path).st_dev
    return f"{os.major(number)}:{os.minor(number)}"


@contextlib.contextmanager
def disk_limit(pids: Iterable[int], device: str, read_bps: Optional[int] = None,
               write_bps: Optional[int] = None, read_iops: Optional[int] = None,
               write_iops: Optional[int] = None) -> Iterator[Group]:
    """Limit the disk requests `pids` send to `device` (MAJOR:MINOR).

    Version 1 sees the requests of the process that sends them: reads, direct
    writes and fsync, not the write-back of buffered pages by a kernel thread.
    A held request reaches the device queue (and the block:* tracepoints) only
    when it is let go: the wait is before block_rq_issue, not after it.  For a
    slow block_rq_issue -> block_rq_complete, use a `loop_disk` and limit the
    device its image lies on.
    """
    limits = {"read_bps": read_bps, "write_bps": write_bps, "read_iops": read_iops, "write_iops": write_iops}

    def settings(group: Group) -> None:
        for name, value in limits.items():
            if value is None:
                continue
            if group.version == 2:
                way, unit = name.split("_")
                group.write("io.max", f"{device} {way[0]}{unit}={value}")
            else:
                group.write(f"blkio.throttle.{name}_device", f"{device} {value}")

    home = "blkio" if (CGROUPS / "blkio" / "cgroup.procs").exists() else "io"
    with _group(home, pids, settings) as group:
        yield group


@dataclass(frozen=True)
class LoopDisk:
    mount: Path
    image: Path
    node: str
    device: str


@contextlib.contextmanager
def loop_disk(megabytes: int = 256, directory: "str | None" = None) -> Iterator[LoopDisk]:
    """A file-backed ext4 disk of our own, so that limiting it slows no one else."""
    with contextlib.ExitStack() as undo:
        base = Path(tempfile.mkdtemp(prefix=_own_name() + "-", dir=directory))
        undo.callback(shutil.rmtree, base, ignore_errors=True)
        image, mount = base / "image", base / "mount"
        mount.mkdir()
        with open(image, "wb") as made:
            made.truncate(megabytes << 20)
        _run("mkfs.ext4", "-q", "-F", str(image))
        node = _run("losetup", "--find", "--show", "--direct-io=on", str(image)).strip()
        undo.callback(_run, "losetup", "--detach", node)
        _run("mount", node, str(mount))
        undo.callback(_unmount, mount)
        number = os.stat(node).st_rdev
        yield LoopDisk(mount, image, node, f"{os.major(number)}:{os.minor(number)}")


def _unmount(mount: Path) -> None:
    try:
        _run("umount", str(mount))
    except RuntimeError:
        _run("umount", "--lazy", str(mount))


# ---- Slow peer ----

@dataclass(frozen=True)
class Peer:
    """Connect to `address`: whatever listens on `local` (or 0.0.0.0) answers, late."""

    address: str
    local: str
    interface: str


class _Mirror(threading.Thread):
    """Sends every packet of a TUN device back, later, with its two ends swapped.

    Swapping source and destination leaves every checksum right, so a socket
    bound here is reached through the kernel's whole network path.
    """

    def __init__(self, handle: int, delay: float, loss: float, seed: int) -> None:
        super().__init__(daemon=True, name="plant-mirror")
        self.handle, self.delay, self.loss = handle, delay, loss
        self.chance = random.Random(seed)
        self.wake_read, self.wake_write = os.pipe()
        self.dropped = 0

    def run(self) -> None:
        waiting: List[Tuple[float, int, bytes]] = []
        order = itertools.count()
        while True:
            left = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
            ready, _, _ = select.select([self.handle, self.wake_read], [], [], left)
            if self.wake_read in ready:
                return
            if self.handle in ready:
                packet = os.read(self.handle, 65536)
                if packet[0] >> 4 == 4:
                    if self.loss and self.chance.random() < self.loss:
                        self.dropped += 1
                    else:
                        swapped = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
                        heapq.heappush(waiting, (time.monotonic() + self.delay, next(order), swapped))
            while waiting and waiting[0][0] <= time.monotonic():
                os.write(self.handle, heapq.heappop(waiting)[2])

    def stop(self) -> None:
        os.write(self.wake_write, b"x")
        self.join()
        os.close(self.wake_read)
        os.close(self.wake_write)


@contextlib.contextmanager
def slow_peer(delay_ms: float = 50, loss: float = 0.0, subnet: str = "198.18.77", seed: int = 1) -> Iterator[Peer]:
    """An address behind a TUN device whose packets take `delay_ms` each way.

    Does what `tc netem` would do, which not every kernel has.  The device goes with its
    descriptor, so even a killed planter leaves nothing.
    """
    handle = os.open("/dev/net/tun", os.O_RDWR)
    try:
        name = f"plant{os.getpid() % 10**7}-{next(_serial) % 10}"
        fcntl.ioctl(handle, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x0001 | 0x1000))
        _run("ip", "address", "add", f"{subnet}.1/24", "dev", name)
        _run("ip", "link", "set", name, "up")
        mirror = _Mirror(handle, delay_ms / 1000, loss, seed)
        mirror.start()
        try:
            yield Peer(f"{subnet}.2", f"{subnet}.1", name)
        finally:
            mirror.stop()
    finally:
        os.close(handle)


# ---- Memory ----

_PIDFD_OPEN, _PROCESS_MADVISE, _MADV_PAGEOUT = 434, 440, 21


def page_out(pid: int, wanted: Callable[[str], bool] = lambda path: path.startswith("/")) -> int:
    """Push the mapped files of `pid` out of memory; gives the bytes advised.

    Without swap only clean file pages can go; each comes back as a major fault
    (a disk read in state D).  Pages other processes map stay.
    """
    ranges: List[Tuple[int, int]] = []
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        parts = line.split(None, 5)
        if len(parts) == 6 and wanted(parts[5]):
            start, end = (int(side, 16) for side in parts[0].split("-"))
            ranges.append((start, end - start))
    handle = LIBC.syscall(_PIDFD_OPEN, pid, 0)
    if handle < 0:
        raise OSError(ctypes.get_errno(), "pidfd_open")
    advised = 0
    try:
        for start, length in ranges:
            vector = struct.pack("PN", start, length)
            done = LIBC.syscall(_PROCESS_MADVISE, handle, vector, ctypes.c_size_t(1), _MADV_PAGEOUT, 0)
            advised += max(0, done)
    finally:
        os.close(handle)
    return advised


@contextlib.contextmanager
def page_out_storm(pid: int, every_s: float = 0.05) -> Iterator[None]:
    """`page_out` again and again while the block runs."""
    over = threading.Event()

    def storm() -> None:
        while not over.wait(every_s):
            try:
                page_out(pid)
            except OSError:
                return

    thread = threading.Thread(target=storm, daemon=True, name="plant-page-out")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
