"""A real History Server and a real live UI, started by the tests that ask them and ended with them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Optional, Tuple, Type

import conftest

sys.path.insert(0, str(conftest.ROOT / "tests" / "record"))

import spark_runs  # noqa: E402

SPARK = "3.5.6"
START_S = 240.0  # on a machine that does much else


def spark_venv(version: str = SPARK) -> Tuple[Optional[Path], str]:
    """A virtual environment with pyspark, or the reason why there is none."""
    try:
        return spark_runs.make_venv(conftest.cache_folder().absolute(), version), ""
    except (OSError, subprocess.CalledProcessError) as error:
        return None, f"pyspark {version} cannot be installed: {error}"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def ask(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


class Server:
    """A process that answers at an address once it is up."""

    def __init__(self, command: Any, url: str, output: Path, **options: Any) -> None:
        self.url = url
        self.output = output
        with open(output, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, **options)

    def wait(self, applications: int) -> None:
        began = time.monotonic()
        while time.monotonic() - began < START_S:
            if self.process.poll() is not None:
                break
            try:
                if len(ask(f"{self.url}/api/v1/applications")) >= applications:
                    return
            except (urllib.error.URLError, OSError, ValueError):
                pass
            time.sleep(0.2)
        self.stop()
        raise AssertionError(f"{self.url} does not answer: {self.output.read_text(errors='replace')[-2000:]}")

    def stop(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()


def history_server(venv: Path, folder: Path, work: Path, applications: int) -> Server:
    port = free_port()
    settings = {
        "spark.history.fs.logDirectory": f"file:{folder}",
        "spark.history.ui.port": str(port),
        "spark.history.fs.update.interval": "1s",
    }
    options = " ".join(f"-D{key}={value}" for key, value in settings.items())
    environment = {**spark_runs.spark_env(venv), "SPARK_DAEMON_MEMORY": "1g", "SPARK_HISTORY_OPTS": options}
    command = [
        str(spark_runs.spark_home(venv) / "bin" / "spark-class"),
        "org.apache.spark.deploy.history.HistoryServer",
    ]
    server = Server(command, f"http://127.0.0.1:{port}", work / "history.out", env=environment, cwd=work)
    server.wait(applications)
    return server


def live_ui(venv: Path, script: Path, events: Path, work: Path) -> Server:
    """Runs a script that says "ready" when its application has done what is asked of, and ends with its standard input."""
    port = free_port()
    environment: Dict[str, str] = spark_runs.spark_env(venv)
    command = [str(venv / "bin" / "python"), str(script), str(port), str(events)]
    output = work / "live.out"
    server = Server(
        command, f"http://127.0.0.1:{port}", output, env=environment, cwd=work, stdin=subprocess.PIPE
    )
    began = time.monotonic()
    while "ready" not in output.read_text(errors="replace"):
        if server.process.poll() is not None or time.monotonic() - began > START_S:
            server.stop()
            raise AssertionError(f"the application did not get ready: {output.read_text(errors='replace')[-2000:]}")
        time.sleep(0.2)
    return server
