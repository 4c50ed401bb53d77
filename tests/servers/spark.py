"""Spark's own servers, from the PyPI package: the History Server over a folder of logs, and applications that run."""

from __future__ import annotations

import http.client
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Dict, Optional, Tuple

import conftest

from servers import Unavailable
from servers.process import ServerProcess

sys.path.insert(0, str(conftest.ROOT / "tests" / "record"))

import spark_runs  # noqa: E402

Answer = Tuple[int, Dict[str, str], bytes]

SPARK_3 = "3.5.6"
SPARK_4 = "4.3.0"
VERSIONS = (SPARK_3, SPARK_4)
ARROW = ("numpy==1.26.4", "pandas==2.2.3", "pyarrow==18.1.0")
STARTED = re.compile(r"Bound HistoryServer to 127\.0\.0\.1, and started at http://127\.0\.0\.1:([0-9]+)")
READY = re.compile(r"^ready (http://127\.0\.0\.1:[0-9]+)$", re.M)
SETTINGS = {
    "spark.history.fs.update.interval": "3600s",
    "spark.history.retainedApplications": "2",
    "spark.ui.showConsoleProgress": "false",
}
# For folders to which add_log() adds: it scans them all the time, and keeps the applications of more logs.
WATCHING = {"spark.history.fs.update.interval": "1s", "spark.history.retainedApplications": "20"}


@lru_cache(maxsize=None)
def venv(version: str = SPARK_3) -> Path:
    """A virtual environment with that pyspark."""
    if shutil.which("java") is None:
        raise Unavailable("Spark needs java (as Debian calls it: openjdk-17-jre-headless)")
    try:
        return spark_runs.make_venv(conftest.cache_folder().absolute(), version)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"pyspark {version} cannot be installed: {error}") from error


@lru_cache(maxsize=None)
def arrow_packages() -> Path:
    """A folder for PYTHONPATH with the pandas and pyarrow that both versions can use."""
    folder = conftest.cache_folder().absolute() / "pyrometer-arrow"
    done = folder / "complete"
    if not done.exists():
        python = str(venv() / "bin" / "python")
        command = [python, "-m", "pip", "install", "-q", "--target", str(folder), "--upgrade", *ARROW]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            raise Unavailable(f"{' '.join(ARROW)} cannot be installed: {error.stderr[-500:]!r}") from error
        done.touch()
    return folder


def home(version: str = SPARK_3) -> Path:
    """SPARK_HOME of that version."""
    return spark_runs.spark_home(venv(version))


def request(port: int, method: str, path: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, dict(response.headers.items()), response.read()
    finally:
        connection.close()


def add_log(log: Path, folder: Path, name: str = "") -> Path:
    """A copy under a name that Spark knows its codec by, which a server that scans the folder sees at once in full."""
    target = folder / re.sub(r"\.zst$", ".zstd", name or log.name)
    hidden = folder / f".{target.name}"
    if log.is_dir():
        shutil.copytree(log, hidden)
    else:
        shutil.copy2(log, hidden)
    hidden.rename(target)
    return target


class HistoryServer(ServerProcess):
    """A History Server, which scans its folder once, as it starts, unless `settings` say otherwise: see WATCHING."""

    def __init__(self, spark_home: Path, folder: Path, settings: Optional[Dict[str, str]] = None) -> None:
        self.work = tempfile.TemporaryDirectory(prefix="pyrometer-history-")
        command, environment = spark_runs.history_server(spark_home, folder, 0, {**SETTINGS, **(settings or {})})
        super().__init__(command, Path(self.work.name) / "output", cwd=self.work.name, env=environment)
        started = self.wait_for(lambda: STARTED.search(self.printed()), "the History Server did not start")
        self.port = int(started.group(1))
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self, *number: int) -> int:
        status = super().stop(*number)
        self.work.cleanup()
        return status

    def request(self, method: str, path: str) -> Answer:
        return request(self.port, method, path)

    def count(self) -> int:
        """How many attempts are listed."""
        return self.request("GET", "/api/v1/applications")[2].count(b'"completed"')

    def wait_for_attempts(self, count: int, limit_s: float = 120) -> int:
        """Until it lists that many, or no more of them for ten seconds: some logs it does not read."""
        seen, changed, deadline = -1, time.monotonic(), time.monotonic() + limit_s
        while seen < count and time.monotonic() < min(deadline, changed + 10 if seen > 0 else deadline):
            listed = self.count()
            if listed != seen:
                seen, changed = listed, time.monotonic()
            time.sleep(0.2)
        return seen


class LiveApplication(ServerProcess):
    """A PySpark script that prints "ready URL-OF-ITS-UI" and ends when its standard input does."""

    def __init__(self, version: str, script: Path, events: Path, work: Path) -> None:
        python = venv(version)
        command = [str(python / "bin" / "python"), str(script), str(events)]
        environment = spark_runs.spark_env(python)
        super().__init__(command, work / "live.out", env=environment, cwd=work, stdin=subprocess.PIPE)
        ready = self.wait_for(lambda: READY.search(self.printed()), "the application did not get ready")
        self.url = ready.group(1)

