"""A running `pyrometer serve`."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Dict, Mapping, Optional, Tuple, Type

import conftest

Answer = Tuple[int, str, bytes]


class Server:
    """Serves a folder on a free port for as long as the context lasts."""

    def __init__(self, folder: Path, *options: str) -> None:
        kept = () if "--cache" in options else ("--no-cache",)  # never the cache of the user who runs the tests
        command = [str(conftest.binary_path()), "serve", str(folder), "--port", "0", *kept, *options]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
            preexec_fn=conftest.default_signals,
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        match = re.fullmatch(r"listening on (https?)://([0-9.]+|\[[0-9a-f:]+\]):([0-9]+)/\n", self.line)
        if match is None:
            self.process.kill()
            raise AssertionError(f"no line with the address: {self.line!r} {self.process.communicate()[1]}")
        self.scheme, self.host, self.port = match.group(1), match.group(2).strip("[]"), int(match.group(3))

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        status = self.stop()
        assert kind is not None or status == 0

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=30)
        return self.process.returncode

    def request(self, method: str, path: str, headers: Mapping[str, str] = MappingProxyType({})) -> Answer:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request(method, path, headers=dict(headers))
            response = connection.getresponse()
            return response.status, response.headers.get("Content-Type", ""), response.read()
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        """GET below /api/v1/."""
        return self.request("GET", f"/api/v1/{path}")

    def metrics(self) -> Dict[str, float]:
        """By their names, with labels: pyrometer_loads_total, pyrometer_requests_running{class="light"}."""
        lines = self.request("GET", "/metrics")[2].decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}

    def count(self) -> int:
        """How many attempts are listed."""
        return self.get("applications")[2].count(b'"completed"')
