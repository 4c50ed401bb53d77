#!/usr/bin/env python3
"""Build the Go programs that tests of telemetry and of the chart need, once, into the cache.

    python3 tests/record/go_servers.py --cache .cache            # all of them: about ten minutes
    python3 tests/record/go_servers.py --cache .cache helm       # some

Versions are pinned. Go checks what it downloads by its checksum database. Tests skip what is not built.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COLLECTOR = ROOT / "tests" / "servers" / "otelcol"
BUILDER = "go.opentelemetry.io/collector/cmd/builder@v0.160.0"
LIMIT_S = 1800


class Program(NamedTuple):
    """A program, and how it is made."""

    version: str
    build: Callable[[Path], None]


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of Go: what it builds goes into the folder."""
    return {**os.environ, "GOBIN": str(folder / "bin"), "GOFLAGS": "-buildvcs=false", "GO111MODULE": "on"}


def go(folder: Path, *words: str, cwd: Path | None = None, flags: str = "") -> None:
    """Run Go."""
    variables = environment(folder)
    variables["GOFLAGS"] += flags
    subprocess.run(["go", *words], check=True, cwd=cwd, env=variables, timeout=LIMIT_S)


def install(module: str) -> Callable[[Path], None]:
    """Return what installs the program of a module."""
    return lambda folder: go(folder, "install", "-trimpath", "-ldflags=-s -w", module)


def collector(folder: Path) -> None:
    """Build a collector of OpenTelemetry that receives OTLP and writes files."""
    go(folder, "install", BUILDER)
    work = folder / "collector"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(COLLECTOR, work)
    # It writes the sources; what it then does with modules fails on one that only a test needs.
    subprocess.run(
        [str(folder / "bin" / "builder"), "--config", "builder.yaml", "--skip-strict-versioning", "--skip-compilation",
         "--skip-get-modules"],
        check=True, cwd=work, env=environment(folder), timeout=LIMIT_S,
    )
    for name in ("go.mod", "go.sum"):
        shutil.copy(work / name, work / "out" / name)
    output = str(folder / "bin" / "collector")
    go(folder, "build", "-trimpath", "-ldflags=-s -w", "-o", output, ".", cwd=work / "out", flags=" -mod=mod")


PROGRAMS = {
    "collector": Program("0.160.0", collector),
    "helm": Program("3.22.0", install("helm.sh/helm/v3/cmd/helm@v3.22.0")),
    "kubeconform": Program("0.8.0", install("github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0")),
    "versitygw": Program("1.8.0", install("github.com/versity/versitygw/cmd/versitygw@v1.8.0")),
}


def program(cache: Path, name: str) -> Path | None:
    """Return the built program; None: it is not built."""
    folder = cache / "pyrometer-go"
    stamp, binary = folder / f"{name}.version", folder / "bin" / name
    built = binary.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == PROGRAMS[name].version
    return binary if built else None


def build(cache: Path, name: str) -> Path:
    """Return the program, built if it is not; of several processes, one builds."""
    folder = cache / "pyrometer-go"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if program(cache, name) is None:
            PROGRAMS[name].build(folder)
            (folder / f"{name}.version").write_text(PROGRAMS[name].version, encoding="utf-8")
    return folder / "bin" / name


def main() -> int:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {' '.join(PROGRAMS)}")
    arguments = parser.parse_args()
    for name in arguments.names or PROGRAMS:
        print(build(arguments.cache.absolute(), name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
