"""Start real Spark applications so that their event logs can be kept.

Shared by the recording scripts of the tests, the corpus and the benchmarks. A
run gets a neutral working directory and a bare environment, because class
paths, working directories and user names end up inside the log.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_CACHE = ROOT / ".cache"
DEFAULT_WORKDIR = Path("/tmp/pyrometer-corpus")


def absolute_path(text: str) -> Path:
    """Read a path argument; Spark runs elsewhere, so it must not be relative."""
    return Path(text).absolute()


def make_venv(cache: Path, version: str, extra: Sequence[str] = ()) -> Path:
    """Return the folder of a virtual environment with that pyspark in it; of several processes, one makes it."""
    venv = cache / f"pyrometer-venv-{version}"
    python = venv / "bin" / "python"
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f"pyrometer-venv-{version}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        if not list(venv.glob("lib/python3*/site-packages/pyspark/bin/spark-submit")):
            pip_install(venv, [f"pyspark=={version}"])
        if extra:
            pip_install(venv, extra)
    return venv


def pip_install(venv: Path, packages: Sequence[str]) -> None:
    """Install packages into a virtual environment."""
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "-q"]
    subprocess.run([*pip, *packages], check=True)


def spark_home(venv: Path) -> Path:
    """Return the folder of the pip package, which doubles as SPARK_HOME."""
    return next(iter(venv.glob("lib/python3*/site-packages/pyspark")))


def bare_env(home: Path) -> dict[str, str]:
    """Return a bare environment that keeps Spark on the loopback interface."""
    kept = {k: os.environ[k] for k in ("HOME", "JAVA_HOME", "PATH") if k in os.environ}
    return {
        **kept,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def spark_env(venv: Path) -> dict[str, str]:
    """Return the environment of an application."""
    return {
        **bare_env(spark_home(venv)),
        "SPARK_USER": "pyrometer",
        "PYSPARK_PYTHON": str(venv / "bin" / "python"),
        "PYSPARK_DRIVER_PYTHON": str(venv / "bin" / "python"),
    }


@dataclass
class Run:
    """One application: which script, on which master, with which settings."""

    name: str
    script: Path
    master: str = "local[2]"
    conf: dict[str, str] = field(default_factory=dict)
    args: list[str] = field(default_factory=list)
    timeout_s: int = 300


def megabytes(text: str) -> int:
    """Read a size of whole megabytes or gigabytes, such as 512m or 2G."""
    return int(text[:-1]) * {"m": 1, "g": 1024}[text[-1].lower()]


def base_conf(events: Path | None) -> dict[str, str]:
    """Return the settings every recorded run has in common."""
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.metrics.pollingInterval": "200",
        "spark.eventLog.logStageExecutorMetrics": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.enabled": "false" if events is None else "true",
    }
    if events is not None:
        conf["spark.eventLog.dir"] = f"file:{events}"
    return conf


def start(
    venv: Path,
    workdir: Path,
    run: Run,
    events: Path | None,
    main_class: str = "",
    extra_env: dict[str, str] | None = None,
) -> subprocess.Popen:
    """Start the application and return at once; its output goes to a file.

    With a main class, that class of Spark's own jars runs instead of the script.
    """
    workdir.mkdir(parents=True, exist_ok=True)
    if events is not None:
        shutil.rmtree(events, ignore_errors=True)
        events.mkdir(parents=True)
    for source in run.script.parent.glob("*.py"):
        shutil.copy(source, workdir / source.name)
    command = [str(spark_home(venv) / "bin" / "spark-submit"), "--master", run.master]
    for key, value in {**base_conf(events), **run.conf}.items():
        command += ["--conf", f"{key}={value}"]
    program = ["--class", main_class, "spark-internal"] if main_class else [run.script.name]
    command += ["--name", run.name, *program, *run.args]
    env = {**spark_env(venv), **(extra_env or {})}
    with open(workdir / f"{run.name}.out", "wb") as output:
        return subprocess.Popen(command, cwd=workdir, env=env, stdout=output, stderr=output)


def run_to_end(
    venv: Path,
    workdir: Path,
    run: Run,
    events: Path | None,
    extra_env: dict[str, str] | None = None,
    started: Callable[[subprocess.Popen], None] | None = None,
) -> None:
    """Run the application and raise if it fails or takes too long; `started` gets its process.

    It does not outlive a script that is interrupted.
    """
    process = start(venv, workdir, run, events, extra_env=extra_env)
    try:
        if started:
            started(process)
        status = process.wait(timeout=run.timeout_s)
    except BaseException:
        process.kill()
        process.wait()
        raise
    if status != 0:
        raise RuntimeError(f"{run.name}: exit status {status}, see {run.name}.out in {workdir}")


def logs_in(events: Path) -> Iterator[Path]:
    """Yield the event logs (files, or folders of rolling logs) in a folder."""
    yield from sorted(p for p in events.iterdir() if not p.name.startswith("."))


def compress(log: Path, target: Path) -> None:
    """Keep a plain log as zstd, readable by all (Spark's own mode is 0660)."""
    subprocess.run(["zstd", "-19", "-q", "-f", str(log), "-o", str(target)], check=True)
    target.chmod(0o644)


def wait_for(condition: Callable[[], bool], timeout_s: float, what: str) -> None:
    """Poll a condition; raise when it does not come true in time."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.3)
    raise TimeoutError(f"gave up waiting for {what}")


def fetch(url: str) -> bytes:
    """Return the body of a URL on the loopback interface."""
    with urllib.request.urlopen(url, timeout=30) as reply:
        return reply.read()


def listens(port: int) -> bool:
    """Tell whether something listens on a loopback port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def history_server(
    home: Path, logs: Path, port: int, settings: Mapping[str, object], memory: str = "2g"
) -> tuple[list[str], dict[str, str]]:
    """Return command and environment of a History Server on a folder of logs; it chooses a port where that is 0."""
    given = {
        "spark.history.fs.logDirectory": logs.resolve().as_uri(),
        "spark.history.ui.port": port,
        **settings,
    }
    environment = {
        **bare_env(home),
        "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
        "SPARK_PUBLIC_DNS": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": memory,
        "SPARK_HISTORY_OPTS": " ".join(f"-D{key}={value}" for key, value in given.items()),
    }
    return [str(home / "bin" / "spark-class"), "org.apache.spark.deploy.history.HistoryServer"], environment


class HistoryServer:
    """A real History Server on a folder of logs, stopped on leaving the block."""

    def __init__(self, venv: Path, workdir: Path, logs: Path, port: int, settings: Mapping[str, str] | None = None):
        self.url = f"http://127.0.0.1:{port}/api/v1"
        every = {"spark.history.fs.update.interval": "2s", **(settings or {})}
        command, env = history_server(spark_home(venv), logs, port, every)
        with open(workdir / "history-server.out", "wb") as output:
            self.process = subprocess.Popen(
                command, cwd=workdir, env=env, stdout=output, stderr=output
            )

    def __enter__(self) -> HistoryServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)

    def answers(self, path: str, needle: bytes = b"") -> bool:
        """Tell whether a REST path answers and its reply holds the needle."""
        try:
            return needle in fetch(f"{self.url}{path}")
        except OSError:
            return False
