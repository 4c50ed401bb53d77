"""Running a command and knowing what it cost; the machine it ran on."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent


class RunFailed(Exception):
    """A measured command did not succeed."""


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    wall_s: float
    user_s: float
    system_s: float
    peak_bytes: int
    anonymous_bytes: Optional[int] = None

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


def median(costs: Sequence[Cost]) -> Cost:
    """Each number's own median; of anonymous memory the largest seen, as sampling can only miss."""
    anonymous = [c.anonymous_bytes for c in costs if c.anonymous_bytes is not None]
    return Cost(
        statistics.median(c.wall_s for c in costs),
        statistics.median(c.user_s for c in costs),
        statistics.median(c.system_s for c in costs),
        int(statistics.median(c.peak_bytes for c in costs)),
        max(anonymous) if anonymous else None,
    )


def compile_program(command: Sequence[str], source: Path, out: Path) -> None:
    """Compile SOURCE to OUT unless that is newer."""
    if out.exists() and out.stat().st_mtime > source.stat().st_mtime:
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RunFailed(f"{' '.join(command)}\n{done.stderr.strip()}")


class Meter:
    """Runs commands by bench/measure.c, which has almost no memory of its own to be counted."""

    def __init__(self, folder: Path) -> None:
        source = HERE / "measure.c"
        self.program = folder / "bin" / "measure"
        self.result = folder / "bin" / "measure.json"
        compile_program(["cc", "-O2", "-o", str(self.program), str(source)], source, self.program)

    def run(self, command: Sequence[str], sample_us: int = 0, keep_output: bool = False) -> Cost:
        """Run COMMAND; sample its anonymous memory that often.

        Large outputs are thrown away. Counts go to a pipe: GNU grep stops at the first match when its output is
        /dev/null.
        """
        wrapped = [str(self.program), str(self.result), str(sample_us), *command]
        out = subprocess.PIPE if keep_output else subprocess.DEVNULL
        done = subprocess.run(wrapped, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        if done.returncode != 0:
            tail = done.stderr.decode(errors="replace").strip()[-2000:]
            raise RunFailed(f"{' '.join(command)}: exit status {done.returncode}\n{tail}")
        told = json.loads(self.result.read_text())
        anonymous = told["anonymous_kib"] * 1024 if sample_us else None
        return Cost(told["wall_s"], told["user_s"], told["system_s"], told["peak_kib"] * 1024, anonymous)


def first_line(command: Sequence[str]) -> str:
    """The first line that a command prints, such as its version; empty if it cannot run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError:
        return ""
    return done.stdout.strip().partition("\n")[0]


def processor() -> str:
    """The processor's name and family, as the kernel tells them."""
    facts: dict[str, str] = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    name = facts.get("model name") or platform.machine()
    family = facts.get("cpu family")
    flags = facts.get("flags", "").split()
    best = next((f for f in ("avx512bw", "avx2", "sse4_2") if f in flags), "")
    extra = [f"family {family} model {facts.get('model')}"] if family else []
    return ", ".join([name, *extra, *([best] if best else [])])


def system_name() -> str:
    try:
        facts = dict(
            line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
        )
    except OSError:
        return platform.system()
    return facts.get("PRETTY_NAME", platform.system()).strip('"')


def machine() -> list[tuple[str, str]]:
    """What the numbers depend on; nothing that tells whose machine it is."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    release = platform.release().split("-")[0]
    virtual = "hypervisor" in Path("/proc/cpuinfo").read_text()
    return [
        ("processor", processor()),
        ("cores", f"{os.cpu_count()}{' (a virtual machine)' if virtual else ''}"),
        ("memory", f"{memory / 2**30:.0f} GiB"),
        ("system", f"{system_name()}, Linux {release}"),
        ("compiler", first_line(["cc", "--version"])),
    ]
