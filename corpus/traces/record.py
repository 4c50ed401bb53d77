#!/usr/bin/env python3
"""Record runs with faults of the machine, and traces of them: python3 corpus/traces/record.py [NAME ...]

Each run is a real Spark application in one process. Once it is warm, `pyrometer trace record --attach` traces the machine until
it ends. logs/NAME.tar.xz has its event log, the records of its threads and the trace. Linux and root only; needs perf, javac,
the Spark plugin (--plugin) and an idle machine: what else runs is named as a culprit.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Dict, List

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import faults  # noqa: E402
from traced_cases import CASES, Case  # noqa: E402

PLUGIN = "io.pyrometer.spark.PyrometerPlugin"
WAIT_S = 120


def wait_for(condition: Callable[[], bool], what: str, run: "subprocess.Popen[bytes]") -> None:
    limit = time.monotonic() + WAIT_S
    while not condition():
        if run.poll() is not None:
            raise RuntimeError(f"the application ended before {what}")
        if time.monotonic() > limit:
            raise RuntimeError(f"{what} took more than {WAIT_S} s")
        time.sleep(0.05)


@contextlib.contextmanager
def echo_server(address: str) -> Iterator[str]:
    """Sends back what it gets."""
    server = socket.create_server((address, 0))

    def serve() -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(peer,), daemon=True).start()

    def answer(peer: socket.socket) -> None:
        with peer, contextlib.suppress(OSError):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := peer.recv(4096):
                peer.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield str(server.getsockname()[1])
    finally:
        server.close()


def plant_before(case: Case, folder: Path, undo: ExitStack) -> Dict[str, str]:
    """Faults that the application is started with; what it needs to know of them."""
    needs = {"argument": "none", "local": str(folder / "local")}
    for fault in case.faults:
        name, strength = fault.split()
        if name == "loop_disk":
            disk = undo.enter_context(faults.loop_disk(512))
            needs.update(local=str(disk.mount), image=str(disk.image))
        elif name == "slow_peer":
            peer = undo.enter_context(faults.slow_peer(float(strength)))
            port = undo.enter_context(echo_server(peer.local))
            needs["argument"] = f"{peer.address}:{port}"
    return needs


def plant(case: Case, pid: int, needs: Dict[str, str], undo: ExitStack) -> None:
    """Faults of the running application."""
    for fault in case.faults:
        name, strength = fault.split()
        if name == "cpu_hog":
            undo.enter_context(faults.cpu_hog(sorted(os.sched_getaffinity(0)), int(strength)))
        elif name == "cpu_quota":
            undo.enter_context(faults.cpu_quota([pid], float(strength)))
        elif name == "page_out":
            undo.enter_context(faults.page_out_storm(pid, float(strength)))
        elif name == "loop_disk":
            undo.enter_context(faults.disk_limit([pid], faults.device_of(needs["image"]), write_bps=int(strength)))


def functions_jar(folder: Path, spark_jars: Path) -> Path:
    folder.mkdir()
    subprocess.run(["javac", "--release", "8", "-Xlint:-options", "-cp", f"{spark_jars}/*", "-d", str(folder),
                    str(HERE / "Functions.java")], check=True)
    jar = folder / "functions.jar"
    subprocess.run(["jar", "cf", str(jar), "-C", str(folder), "pyrometer"], check=True)
    return jar


def start(case: Case, folder: Path, needs: Dict[str, str], options: argparse.Namespace) -> "subprocess.Popen[bytes]":
    home = options.venv / "bin" / "python"
    spark = subprocess.run([str(home), "-c", "import pyspark; print(pyspark.__path__[0])"], check=True, capture_output=True,
                           text=True).stdout.strip()
    jars = [str(options.plugin)]
    if case.program in ("locked", "single_bytes", "ask"):
        jars.append(str(functions_jar(folder / "classes", Path(spark) / "jars")))
    conf = {
        "spark.plugins": PLUGIN, "spark.pyrometer.trace.dir": str(folder / "run" / "tasks"), "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{folder / 'run' / 'eventlog'}", "spark.driver.extraClassPath": ":".join(jars),
        "spark.ui.enabled": "false", "spark.local.dir": needs["local"], "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -XX:CICompilerCount=2", **case.conf,
    }
    arguments = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    words = [str(Path(spark) / "bin" / "spark-submit"), "--master", "local[2]", "--jars", ",".join(jars), *arguments,
             str(HERE / "programs.py"), case.program, str(folder / "ready"), str(folder / "go"), str(case.scale),
             needs["argument"]]
    environment = {**os.environ, "PYSPARK_PYTHON": str(home), "PYSPARK_DRIVER_PYTHON": str(home)}
    with open(folder / "output", "wb") as output:
        return subprocess.Popen(words, stdout=output, stderr=output, env=environment)


def process_of(tasks: Path) -> int:
    (record,) = tasks.glob("task-threads-*.jsonl")
    return int(json.loads(record.read_text(encoding="utf-8").splitlines()[0])["pid"])


def trace(folder: Path, pid: int, options: argparse.Namespace) -> "subprocess.Popen[bytes]":
    with open(folder / "recorder", "wb") as output:
        return subprocess.Popen([str(options.pyrometer), "trace", "record", "--mode", "kernel", "-o", str(folder / "trace"),
                                 "--attach", str(pid)], stdout=output, stderr=output)


def is_recording(folder: Path) -> bool:
    state = folder / "trace" / "recording.json"
    return state.is_file() and bool(json.loads(state.read_text(encoding="utf-8")).get("state") == "running")


def record(name: str, case: Case, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="pyrometer-traces-") as temporary, ExitStack() as undo:
        folder = Path(temporary)
        (folder / "run" / "eventlog").mkdir(parents=True)
        (folder / "local").mkdir()
        needs = plant_before(case, folder, undo)
        run = start(case, folder, needs, options)
        try:
            wait_for((folder / "ready").exists, "it was ready", run)
            pid = process_of(folder / "run" / "tasks")
            recorder = trace(folder, pid, options)
            wait_for(lambda: is_recording(folder), "the trace began", run)
            time.sleep(1)  # perf has begun, and the machine is as it will be
            plant(case, pid, needs, undo)
            (folder / "go").touch()
            if run.wait(timeout=WAIT_S) != 0:
                raise RuntimeError((folder / "output").read_text(encoding="utf-8")[-2000:])
        finally:
            if run.poll() is None:
                run.kill()
                run.wait()
            undo.close()
        if recorder.wait(timeout=WAIT_S) not in (0, 1):
            raise RuntimeError((folder / "recorder").read_text(encoding="utf-8"))
        shutil.move(str(folder / "trace" / "kernel"), str(folder / "run" / "kernel"))
        rename(folder / "run", options.rename)
        kept = options.logs / f"{name}.tar.xz"
        with tarfile.open(kept, "w:xz") as archive:
            archive.add(folder / "run", name, filter=plain)
    print(f"{name}: {kept.stat().st_size / 1e6:.1f} MB", flush=True)


def rename(folder: Path, names: List[str]) -> None:
    """Replaces what is only true of this machine, such as paths; texts in traces keep their lengths."""
    for path in (path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for old, new in (name.encode().split(b"=") for name in names):
            if len(old) != len(new):
                raise RuntimeError(f"{old!r} and {new!r} differ in length")
            content = content.replace(old, new)
        path.write_bytes(content)


def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *CASES], metavar="NAME")
    parser.add_argument("--pyrometer", type=Path, default=HERE.parent.parent / "build" / "pyrometer")
    parser.add_argument("--plugin", type=Path, required=True)
    parser.add_argument("--venv", type=Path, required=True, help="a virtual environment with pyspark")
    parser.add_argument("--logs", type=Path, default=HERE / "logs")
    parser.add_argument("--rename", action="append", default=[], metavar="OLD=NEW",
                        help="replace a path or name of this machine by one of the same length")
    options = parser.parse_args()
    options.logs.mkdir(exist_ok=True)
    for name in options.names or CASES:
        record(name, CASES[name], options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
