"""The logs that benchmarks read, made once and kept in the cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

import amplify

SIZES = {"100 MB": 10**8, "1 GB": 10**9, "1.9 GB": 193 * 10**7, "4 GB": 4 * 10**9}
SPARE_BYTES = 2 * 10**9


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
        digest = hashlib.sha256(base.read_bytes() + Path(amplify.__file__).read_bytes())
        self.folder = folder / "logs" / digest.hexdigest()[:12]
        self.base = base
        self.say = say
        for other in (folder / "logs").glob("*"):
            if other != self.folder:
                shutil.rmtree(other)
        self.folder.mkdir(parents=True, exist_ok=True)

    def plain(self, name: str) -> Log:
        """The plain log of that size."""
        path = self.folder / (name.replace(" ", "") + ".log")
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
        summary = amplify.write_log(self.base, wanted, path)
        facts.write_text(
            json.dumps({"bytes": summary.bytes, "tasks": summary.tasks, "lines": summary.lines})
        )

    def zstd(self, name: str) -> Log:
        """The same log as Spark's zstd codec leaves it: one frame, no checksum, size unknown."""
        plain = self.plain(name)
        path = plain.path.with_suffix(".zst")
        if not path.exists():
            self.say(f"compressing the {name} log")
            part = path.with_suffix(".part")
            with plain.path.open("rb") as source, part.open("wb") as out:
                command = ["zstd", "-3", "-q", "-c", "--single-thread", "--no-check"]
                subprocess.run(command, stdin=source, stdout=out, check=True)
            part.rename(path)
        return Log(f"{name}, zstd", path, plain.plain_bytes, plain.tasks, plain.lines, plain.application)

    def folder_of_one(self, log: Log) -> Path:
        """A folder with nothing but that log in it, under its application's id."""
        folder = self.folder / f"only-{log.path.stem}"
        folder.mkdir(exist_ok=True)
        link = folder / log.application
        if not link.exists():
            os.link(log.path, link)
        return folder


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
