#!/usr/bin/env python3
"""Record event logs of what clusters do: barrier stages, executors that are decommissioned, shuffle services that die.

    python3 tests/record/record_clusters.py --cache /tmp            everything, about five minutes
    python3 tests/record/record_clusters.py --cache /tmp barrier    one of them

Nothing is edited: tests/logs/clusters/NAME.zst is the event log as Spark wrote it, compressed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import spark_runs as sr  # noqa: E402

HERE = Path(__file__).resolve().parent
OUT = sr.ROOT / "tests" / "logs" / "clusters"
SPARK_3 = "3.5.6"
MASTER_PORT = 17078
SERVICE_PORT = 17079
DECOMMISSION = {
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "true",
    "spark.storage.decommission.rddBlocks.enabled": "true",
    "spark.storage.decommission.shuffleBlocks.enabled": "true",
    "spark.storage.decommission.replicationReattemptInterval": "2s",
}
SERVICE = {"spark.shuffle.service.enabled": "true", "spark.shuffle.service.port": str(SERVICE_PORT)}


class Cluster:
    """A standalone master, workers on loopback addresses and a shuffle service, ended on leaving the block."""

    def __init__(self, venv: Path, workdir: Path, hosts: Sequence[str], conf: dict[str, str]) -> None:
        self.venv, self.workdir, self.conf = venv, workdir, conf
        self.url = f"spark://127.0.0.1:{MASTER_PORT}"
        self.processes: dict[str, subprocess.Popen] = {}
        self.hosts = hosts

    def launch(self, name: str, host: str, *arguments: str) -> None:
        """Start one of Spark's own programs."""
        options = {"spark.local.dir": str(self.workdir / "local"), **self.conf}
        if name in self.hosts:
            options["spark.shuffle.service.enabled"] = "false"  # which is a process of its own
        env = {
            **sr.spark_env(self.venv),
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "512m",
            "SPARK_DAEMON_JAVA_OPTS": " ".join(f"-D{key}={value}" for key, value in options.items()),
        }
        command = [str(sr.spark_home(self.venv) / "bin" / "spark-class"), *arguments]
        with open(self.workdir / f"{name}.out", "ab") as output:
            self.processes[name] = subprocess.Popen(command, cwd=self.workdir, env=env, stdout=output, stderr=output)

    def launch_service(self) -> None:
        """Start the shuffle service of all hosts."""
        self.launch("service", "127.0.0.1", "org.apache.spark.deploy.ExternalShuffleService")
        sr.wait_for(lambda: sr.listens(SERVICE_PORT), 60, "the shuffle service")

    def __enter__(self) -> Cluster:
        deploy = "org.apache.spark.deploy"
        (self.workdir / "local").mkdir(parents=True, exist_ok=True)
        master = ["--host", "127.0.0.1", "--port", str(MASTER_PORT), "--webui-port", "0"]
        self.launch("master", "127.0.0.1", f"{deploy}.master.Master", *master)
        sr.wait_for(lambda: sr.listens(MASTER_PORT), 60, "the master")
        if "spark.shuffle.service.enabled" in self.conf:
            self.launch_service()
        for host in self.hosts:
            worker = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            worker += ["--work-dir", str(self.workdir / "work"), self.url]
            self.launch(host, host, f"{deploy}.worker.Worker", *worker)
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait(timeout=60)

    def kill_service(self) -> None:
        """End the shuffle service; executors live on."""
        self.processes["service"].kill()
        self.processes["service"].wait(timeout=60)

    def decommission(self, host: str) -> None:
        """Announce the end of a worker, as a cloud does before it takes a machine back."""
        os.kill(self.processes[host].pid, signal.SIGPWR)


def hosts(count: int) -> list[str]:
    """Return loopback addresses of workers."""
    return [f"127.0.0.{number}" for number in range(1, count + 1)]


def decommission(cluster: Cluster, go_on: Path) -> None:
    """Take back the second worker while tasks run."""
    go_on.touch()
    time.sleep(0.5)
    cluster.decommission("127.0.0.2")


def restart_service(cluster: Cluster, go_on: Path) -> None:
    """Let tasks fetch while the shuffle service is away."""
    cluster.kill_service()
    go_on.touch()
    time.sleep(9)
    cluster.launch_service()


def end_service(cluster: Cluster, go_on: Path) -> None:
    """The shuffle service does not come back."""
    cluster.kill_service()
    go_on.touch()


FETCHES = {"spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "1s"}
# name: version, workers (0: local-cluster), settings, what happens, whether the application fails
RUNS: dict[str, tuple[str, int, dict[str, str], Callable[[Cluster, Path], None] | None, bool]] = {
    "barrier": (SPARK_3, 0, {}, None, False),
    "decommission": (
        SPARK_3,
        3,
        {**DECOMMISSION, "spark.eventLog.logBlockUpdates.enabled": "true"},
        decommission,
        False,
    ),
    "service-restarted": (SPARK_3, 2, {**SERVICE, **FETCHES}, restart_service, False),
    "service-lost": (SPARK_3, 2, {**SERVICE, **FETCHES}, end_service, True),
}


def submit(venv: Path, workdir: Path, run: sr.Run, fails: bool, cluster: Cluster | None, what: Callable | None) -> None:
    """Run the application to its end, and let happen what happens once it is ready."""
    go_on = workdir / "go-on"

    def act() -> None:
        sr.wait_for(lambda: Path(f"{go_on}.ready").exists(), 600, "the application")
        what(cluster, go_on)

    if what is not None:
        threading.Thread(target=act, daemon=True).start()
        run.args = ["kept", str(go_on)]
    try:
        sr.run_to_end(venv, workdir, run, workdir / "events")
    except RuntimeError:
        if not fails:
            raise


def record(cache: Path, workdir: Path, name: str) -> None:
    """Run the application once and keep its log."""
    version, workers, conf, what, fails = RUNS[name]
    venv = sr.make_venv(cache, version)
    shutil.rmtree(workdir, ignore_errors=True)
    workdir.mkdir(parents=True)
    conf = {"spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.cores.max": "2", **conf}
    if workers == 0:
        conf = {"spark.executor.memory": "512m"}
    run = sr.Run(name, HERE / "clusters_job.py", "local-cluster[2,2,1024]", conf, ["barrier"], timeout_s=900)
    if workers == 0:
        submit(venv, workdir, run, fails, None, None)
    else:
        with Cluster(venv, workdir, hosts(workers), conf) as cluster:
            run.master = cluster.url
            submit(venv, workdir, run, fails, cluster, what)
    OUT.mkdir(exist_ok=True)
    sr.compress(next(sr.logs_in(workdir / "events")), OUT / f"{name}.zst")
    print(name, (OUT / f"{name}.zst").stat().st_size, "bytes", flush=True)


def main() -> None:
    """Record what the command line names, or everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE)
    parser.add_argument("--workdir", type=sr.absolute_path, default=sr.DEFAULT_WORKDIR)
    parser.add_argument("runs", nargs="*", choices=[[], *RUNS], help="which runs; default: all")
    options = parser.parse_args()
    for name in options.runs or RUNS:
        record(options.cache, options.workdir, name)


if __name__ == "__main__":
    main()
