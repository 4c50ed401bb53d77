"""A standalone cluster on loopback addresses, with one process that can be slowed down.

Slowing down is stopping and continuing a process many times a second: to what runs in it, it is a host whose processor
belongs to another user half of the time. Only processes that this module started are touched.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import spark_runs as sr
from job import Cluster

PORT = 17077


def parents() -> dict[int, int]:
    """Return the parent of each process."""
    table = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            table[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:  # ended meanwhile
            continue
    return table


def below(root: int) -> Iterator[int]:
    """Yield the processes that descend from one."""
    table = parents()
    for pid in table:
        above = table[pid]
        while above in table and above != root:
            above = table[above]
        if above == root:
            yield pid


def send(pids: list[int], number: signal.Signals) -> None:
    """Signal processes, of which some may have ended."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


class Standalone:
    """A master and its workers, ended on leaving the block."""

    def __init__(self, cluster: Cluster, venv: Path, workdir: Path) -> None:
        self.cluster = cluster
        self.venv = venv
        self.workdir = workdir
        self.url = f"spark://127.0.0.1:{PORT}"
        self.processes: list[subprocess.Popen] = []
        self.driver: subprocess.Popen | None = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.slow_down, daemon=True)

    def launch(self, host: str, *arguments: str) -> subprocess.Popen:
        """Start one of Spark's own programs."""
        service = "true" if self.cluster.slow == "shuffle service" else "false"
        env = {
            **sr.spark_env(self.venv),
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_JAVA_OPTS": f"-Dspark.shuffle.service.enabled={service}",
        }
        command = [str(sr.spark_home(self.venv) / "bin" / "spark-class"), *arguments]
        with open(self.workdir / "standalone.out", "ab") as output:
            return subprocess.Popen(
                command, cwd=self.workdir, env=env, stdout=output, stderr=output
            )

    def __enter__(self) -> Standalone:
        deploy = "org.apache.spark.deploy"
        master = ["--host", "127.0.0.1", "--port", str(PORT), "--webui-port", "0"]
        self.processes.append(self.launch("127.0.0.1", f"{deploy}.master.Master", *master))
        sr.wait_for(lambda: sr.listens(PORT), 60, "the master")
        for host in self.cluster.hosts:
            worker = ["--host", host, "--cores", str(self.cluster.cores), "--memory", "2g"]
            worker += ["--webui-port", "0", "--work-dir", str(self.workdir / "work"), self.url]
            self.processes.append(self.launch(host, f"{deploy}.worker.Worker", *worker))
        time.sleep(6)  # workers register
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        for process in reversed(self.processes):
            process.terminate()
            process.wait(timeout=60)

    def watch(self, driver: subprocess.Popen) -> None:
        """Learn which process is the driver."""
        self.driver = driver

    def targets(self) -> list[int]:
        """Return what is to be slowed down now."""
        slow = self.cluster.slow
        if slow == "driver":
            return list(below(self.driver.pid)) + [self.driver.pid] if self.driver else []
        if slow == "shuffle service":
            return [self.processes[1].pid]
        if slow in self.cluster.hosts:
            return list(below(self.processes[1 + self.cluster.hosts.index(slow)].pid))
        return []

    def slow_down(self) -> None:
        """Stop and continue the targets until the run is over."""
        stopped, running = (part / 1000 for part in self.cluster.duty)
        turn, pids = 0, []
        while not self.over.wait(max(running, 0.02)):
            if turn % 20 == 0:
                pids = self.targets()
            turn += 1
            send(pids, signal.SIGSTOP)
            self.over.wait(stopped)
            send(pids, signal.SIGCONT)
