#!/usr/bin/env python3
"""Build the Go programs that tests of telemetry and of the chart need, once, into the cache.

    python3 tests/record/go_servers.py --cache .cache            # all of them: about 15 minutes
    python3 tests/record/go_servers.py --cache .cache helm       # some

Versions are pinned. Go checks what it downloads by its checksum database. Tests skip what is not built.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COLLECTOR = ROOT / "tests" / "servers" / "otelcol"
BUILDER = "go.opentelemetry.io/collector/cmd/builder@v0.160.0"
KUBERNETES = "1.33.1"
ETCD = "go.etcd.io/etcd/server/v3"
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


def said(folder: Path, *words: str) -> Any:
    """Return the JSON that Go prints."""
    run = subprocess.run(["go", *words], check=True, env=environment(folder), timeout=LIMIT_S, stdout=subprocess.PIPE)
    return json.loads(run.stdout)


def kubernetes(package: str, name: str) -> Callable[[Path], None]:
    """Return what builds a program of Kubernetes, or one that it uses, with the versions that its own go.mod names.

    That go.mod takes parts of Kubernetes from folders that the module lacks. They are modules too: k8s.io/api 0.33.1 and
    others belong to Kubernetes 1.33.1.
    """

    def make(folder: Path) -> None:
        sources = Path(said(folder, "mod", "download", "-json", f"k8s.io/kubernetes@v{KUBERNETES}")["Dir"])
        given = said(folder, "mod", "edit", "-json", str(sources / "go.mod"))
        parts = [each["Old"]["Path"] for each in given["Replace"] if each["New"]["Path"].startswith("./staging/")]
        major, rest = KUBERNETES.split(".", 1)
        lines = ["module pyrometer.test/kubernetes", f"go {given['Go']}", f"require k8s.io/kubernetes v{KUBERNETES}"]
        lines += [f"replace {part} => {part} v0.{rest}" for part in parts]
        work = folder / "kubernetes"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        (work / "go.mod").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (work / "go.sum").write_bytes((sources / "go.sum").read_bytes())
        # Without these, the server says that it is v0.0.0, and Helm that the chart wants a newer one.
        names = {"gitVersion": f"v{KUBERNETES}", "gitMajor": major, "gitMinor": rest.split(".")[0]}
        link = " ".join(["-s -w", *(f"-X k8s.io/component-base/version.{key}={value}" for key, value in names.items())])
        output = str(folder / "bin" / name)
        go(folder, "build", "-trimpath", f"-ldflags={link}", "-o", output, package, cwd=work, flags=" -mod=mod")

    return make


PROGRAMS = {
    "collector": Program("0.160.0", collector),
    "etcd": Program(KUBERNETES, kubernetes(ETCD, "etcd")),  # the version that Kubernetes names
    "helm": Program("3.22.0", install("helm.sh/helm/v3/cmd/helm@v3.22.0")),
    "kube-apiserver": Program(KUBERNETES, kubernetes("k8s.io/kubernetes/cmd/kube-apiserver", "kube-apiserver")),
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
