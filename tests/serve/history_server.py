"""Spark's own History Server, from the PyPI package, over a folder of logs."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Dict, List, Optional, Tuple, Type

Answer = Tuple[int, Dict[str, str], bytes]

STARTED = re.compile(r"Bound HistoryServer to 127\.0\.0\.1, and started at http://127\.0\.0\.1:([0-9]+)")
SETTINGS = {
    "spark.history.ui.port": "0",
    "spark.history.fs.update.interval": "3600s",
    "spark.history.retainedApplications": "1",
    "spark.ui.showConsoleProgress": "false",
}


class HistoryServer:
    """Runs for as long as the context lasts, on a free port of the loopback interface, ended by its own number."""

    def __init__(self, spark_home: Path, folder: Path, settings: Optional[Dict[str, str]] = None) -> None:
        self.work = tempfile.TemporaryDirectory(prefix="pyrometer-history-")
        given = {**SETTINGS, "spark.history.fs.logDirectory": folder.resolve().as_uri(), **(settings or {})}
        environment = {
            **os.environ,
            "SPARK_HOME": str(spark_home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
            "SPARK_PUBLIC_DNS": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "2g",
            "SPARK_HISTORY_OPTS": " ".join(f"-D{key}={value}" for key, value in given.items()),
        }
        self.process = subprocess.Popen(
            [str(spark_home / "bin" / "spark-class"), "org.apache.spark.deploy.history.HistoryServer"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.work.name,
            env=environment,
        )
        self.lines: List[str] = []
        self.port = 0
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if not self.ready.wait(90) or not self.port:
            self.stop()
            raise AssertionError("the History Server did not start: " + "".join(self.lines[-20:]))

    def read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            match = STARTED.search(line)
            if match:
                self.port = int(match.group(1))
                self.ready.set()
        self.ready.set()

    def __enter__(self) -> HistoryServer:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.stop()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(timeout=10)
        self.work.cleanup()

    def request(self, method: str, path: str) -> Answer:
        return request(self.port, method, path)

    def count(self) -> int:
        """How many attempts are listed."""
        return self.request("GET", "/api/v1/applications")[2].count(b'"completed"')

    def wait_for(self, count: int, limit_s: float = 120) -> int:
        """Until it lists that many attempts, or no more of them for ten seconds: some logs it does not read."""
        seen, changed, deadline = -1, time.monotonic(), time.monotonic() + limit_s
        while seen < count and time.monotonic() < min(deadline, changed + 10 if seen > 0 else deadline):
            listed = self.count()
            if listed != seen:
                seen, changed = listed, time.monotonic()
            time.sleep(0.2)
        return seen


def request(port: int, method: str, path: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, dict(response.headers.items()), response.read()
    finally:
        connection.close()
