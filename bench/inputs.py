"""The logs that benchmarks read, made once and kept in the cache."""

from __future__ import annotations

import ctypes
import ctypes.util
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Callable, Optional

import amplify

SIZES = {"100 MB": 10**8, "1 GB": 10**9, "1 GB, short tasks": 10**9, "1.9 GB": 193 * 10**7, "4 GB": 4 * 10**9}
# Logs of another base than the others: a run of more than two thousand tasks with short lines.
CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "logs"
BASES = {"1 GB, short tasks": CORPUS / "too_many_partitions.zst"}
SMALL_LOG = CORPUS / "healthy_iterative.zst"
SPARE_BYTES = 2 * 10**9


# Of these Spark does not flush its writer, and a frame goes on (EventLoggingListener).
UNFLUSHED = (
    *(b"TaskStart", b"TaskEnd", b"TaskGettingResult", b"StageSubmitted", b"EnvironmentUpdate"),
    *(b"StageExecutorMetrics", b"ExecutorMetricsUpdate"),
)
ZSTD_LEVEL, ZSTD_CONTENT_SIZE = 100, 200  # parameters of libzstd

SMALL_LOGS = 10_000
SMALL_BYTES = 20_000
SMALL_LINE_BYTES = 9_000
WIDE_TASKS = 100_000


class CannotRun(Exception):
    """Something is missing: what, and how to get it."""


@dataclass(frozen=True)
class Log:
    """One event log in the cache."""

    name: str
    path: Path
    plain_bytes: int
    tasks: int
    lines: int
    application: str


def cache_folder(root: Path) -> Path:
    return Path(os.environ.get("PYROMETER_CACHE") or root / ".cache").absolute() / "bench"


def available_memory() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def application_of(path: Path) -> str:
    """The application's id, from the log's first lines."""
    with path.open("rb") as file:
        for line in file:
            if line.startswith(b'{"Event":"SparkListenerApplicationStart"'):
                return str(json.loads(line).get("App ID") or "application")
    raise CannotRun(f"{path} has no SparkListenerApplicationStart")


class Inputs:
    """Makes logs when they are first asked for. Logs of another base are thrown away."""

    def __init__(self, folder: Path, base: Path, say: Callable[[str], None]) -> None:
        made_of = [base, *BASES.values(), Path(amplify.__file__)]
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in made_of))
        self.folder = folder / "logs" / digest.hexdigest()[:12]
        self.base = base
        self.say = say
        for other in (folder / "logs").glob("*"):
            if other != self.folder:
                shutil.rmtree(other)
        self.folder.mkdir(parents=True, exist_ok=True)

    def plain(self, name: str) -> Log:
        """The plain log of that size."""
        path = self.folder / (re.sub("[ ,]", "", name) + ".log")
        facts = path.with_suffix(".json")
        if not (path.exists() and facts.exists()):
            self.make_plain(name, path, facts)
        known = json.loads(facts.read_text())
        return Log(name, path, known["bytes"], known["tasks"], known["lines"], application_of(path))

    def make_plain(self, name: str, path: Path, facts: Path) -> None:
        wanted = SIZES[name]
        free = shutil.disk_usage(self.folder).free
        needed = wanted + SPARE_BYTES
        if free < needed:
            raise CannotRun(f"the {name} log needs {needed / 1e9:.0f} GB of disk; {free / 1e9:.0f} are free")
        if available_memory() < wanted * 1.2 + SPARE_BYTES:
            raise CannotRun(f"the {name} log does not fit into memory, so it could not be read from warm pages")
        self.say(f"making the {name} log")
        summary = amplify.write_log(BASES.get(name, self.base), wanted, path)
        facts.write_text(
            json.dumps({"bytes": summary.bytes, "tasks": summary.tasks, "lines": summary.lines})
        )

    def small(self) -> Log:
        """A recorded log, plain: most of the time is that of the process itself."""
        text = amplify.read_base(SMALL_LOG)
        path = self.folder / "smalllog.log"
        path.write_bytes(text)
        tasks = text.count(b'{"Event":"SparkListenerTaskEnd"')
        return Log(f"{tasks} tasks", path, len(text), tasks, text.count(b"\n"), application_of(path))

    def zstd(self, name: str) -> Log:
        """The same log as one frame: no checksum, size unknown."""

        def write(source: BinaryIO, out: BinaryIO) -> None:
            command = ["zstd", "-3", "-q", "-c", "--single-thread", "--no-check"]
            subprocess.run(command, stdin=source, stdout=out, check=True)

        return self.compressed(name, "zstd", ".zst", write)

    def frames(self, name: str) -> Log:
        """The same log as Spark's zstd codec leaves it: a frame ends where Spark flushes, level 1, size unknown."""

        def write(source: BinaryIO, out: BinaryIO) -> None:
            out.writelines(frames_of(source))

        return self.compressed(name, "zstd frames", ".frames.zst", write)

    def compressed(self, name: str, kind: str, suffix: str, write: Callable[[BinaryIO, BinaryIO], None]) -> Log:
        plain = self.plain(name)
        path = plain.path.with_suffix(suffix)
        if not path.exists():
            self.say(f"compressing the {name} log: {kind}")
            part = path.with_suffix(".part")
            with plain.path.open("rb") as source, part.open("wb") as out:
                write(source, out)
            part.rename(path)
        return Log(f"{name}, {kind}", path, plain.plain_bytes, plain.tasks, plain.lines, plain.application)

    def small_logs(self) -> Path:
        """A folder of many small logs, each of another application."""
        folder = self.folder / "small"
        if not folder.exists():
            self.say(f"making {SMALL_LOGS:,} small logs")
            part = self.folder / "small.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            text, application = small_log(amplify.read_base(self.base))
            for number in range(SMALL_LOGS):
                own = b"app-20260101000000-%05d" % number
                (part / own.decode()).write_bytes(text.replace(application, own))
            part.rename(folder)
        return folder

    def wide_stage(self) -> Path:
        """A folder with the log of one stage of very many tasks."""
        folder = self.folder / "wide"
        if not folder.exists():
            self.say(f"making a stage of {WIDE_TASKS:,} tasks")
            part = self.folder / "wide.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            with (part / WIDE_APPLICATION).open("wb") as out:
                out.writelines(wide_lines(amplify.read_base(self.base)))
            part.rename(folder)
        return folder

    def folder_of_one(self, log: Log) -> Path:
        """A folder with nothing but that log in it, under its application's id."""
        folder = self.folder / f"only-{log.path.stem}"
        folder.mkdir(exist_ok=True)
        link = folder / log.application
        if not link.exists():
            os.link(log.path, link)
        return folder


def frames_of(source: BinaryIO) -> Iterator[bytes]:
    """Frames of zstd that end with the events after which Spark flushes. No module of Python's own compresses zstd."""
    name = ctypes.util.find_library("zstd")
    if name is None:
        raise CannotRun("libzstd is not installed: apt-get install libzstd1")
    zstd = ctypes.CDLL(name)
    zstd.ZSTD_createCCtx.restype = ctypes.c_void_p
    zstd.ZSTD_compress2.restype = ctypes.c_size_t
    context = ctypes.c_void_p(zstd.ZSTD_createCCtx())
    zstd.ZSTD_CCtx_setParameter(context, ZSTD_LEVEL, 1)
    zstd.ZSTD_CCtx_setParameter(context, ZSTD_CONTENT_SIZE, 0)
    lines: list[bytes] = []

    def frame() -> bytes:
        text = b"".join(lines)
        lines.clear()
        room = len(text) + len(text) // 128 + 1024
        out = ctypes.create_string_buffer(room)
        used = zstd.ZSTD_compress2(context, out, ctypes.c_size_t(room), text, ctypes.c_size_t(len(text)))
        if used > room:
            raise CannotRun("libzstd could not compress a frame")
        return out.raw[:used]

    for line in source:
        lines.append(line)
        event = line[: line.find(b'"', 10) + 1]
        if not any(event.endswith(b"SparkListener" + one + b'"') for one in UNFLUSHED):
            yield frame()
    if lines:
        yield frame()
    zstd.ZSTD_freeCCtx(context)


def small_log(base: bytes) -> tuple[bytes, bytes]:
    """The beginning of the base log and its end, and its application's id."""
    lines = [line for line in base.splitlines(True) if len(line) <= SMALL_LINE_BYTES]
    kept: list[bytes] = []
    for line in lines:
        if sum(map(len, kept)) >= SMALL_BYTES - 500:
            break
        kept.append(line)
    kept += [line for line in lines if line.startswith(b'{"Event":"SparkListenerApplicationEnd"')]
    text = b"".join(kept)
    found = re.search(rb'"App ID":"([^"]+)"', text)
    if found is None:
        raise CannotRun("the base log has no application's id")
    return text, found.group(1)


WIDE_APPLICATION = "app-20260101000000-0000"


def wide_lines(base: bytes) -> Iterator[bytes]:
    """The lines of the base log up to the first end of a stage, its last task again and again."""
    start: Optional[dict[str, Any]] = None
    end: Optional[dict[str, Any]] = None
    for line in base.splitlines(True):
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskStart":
            start = event
        elif event["Event"] == "SparkListenerTaskEnd":
            end = event
        elif event["Event"] == "SparkListenerApplicationStart":
            event["App ID"] = WIDE_APPLICATION
            line = compact(event)
        if event["Event"] == "SparkListenerStageCompleted" and start and end:
            for number in range(WIDE_TASKS):
                for task in (start, end):
                    task["Task Info"]["Task ID"] = 1_000_000 + number
                    task["Task Info"]["Index"] = task["Task Info"]["Partition ID"] = number + 1
                info, metrics = end["Task Info"], end["Task Metrics"]
                info["Finish Time"] = info["Launch Time"] + 50 + number * 7919 % 10_007
                metrics["Executor Run Time"] = 20 + number * 104_729 % 9_973
                metrics["Executor CPU Time"] = 1_000_000 * (10 + number * 31 % 997)
                yield compact(start)
                yield compact(end)
            event["Stage Info"]["Number of Tasks"] = WIDE_TASKS + 1
            yield compact(event)
            break
        yield line
    yield from (line for line in base.splitlines(True) if line.startswith(b'{"Event":"SparkListenerApplicationEnd"'))


def compact(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def warm(path: Path) -> None:
    """Read the file once, so that its pages are in memory."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


def tool(name: str, package: Optional[str] = None) -> str:
    """The path of a program, or how to get it."""
    found = shutil.which(name)
    if found is None:
        raise CannotRun(f"{name} is not installed: apt-get install {package or name}")
    return found
