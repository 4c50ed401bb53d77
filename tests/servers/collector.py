"""A collector of OpenTelemetry that writes what it receives into a file."""

from __future__ import annotations

import json
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

import conftest

from servers import Unavailable
from servers.process import ServerProcess

sys.path.insert(0, str(conftest.ROOT / "tests" / "record"))

import go_servers  # noqa: E402


def program(name: str) -> Path:
    """A Go program from the cache."""
    found = go_servers.program(conftest.cache_folder().absolute(), name)
    if found is None:
        raise Unavailable(f"{name} is not built: ./dev servers builds it")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Collector(ServerProcess):
    def __init__(self) -> None:
        binary = program("collector")
        self.work = tempfile.TemporaryDirectory(prefix="pyrometer-collector-")
        folder = Path(self.work.name)
        self.received = folder / "received.jsonl"
        self.grpc, self.http = free_port(), free_port()
        config = {
            "receivers": {"otlp": {"protocols": {"grpc": {"endpoint": f"127.0.0.1:{self.grpc}"},
                                                 "http": {"endpoint": f"127.0.0.1:{self.http}"}}}},
            "exporters": {"file": {"path": str(self.received), "flush_interval": "100ms"}},
            "service": {"telemetry": {"metrics": {"level": "none"}},
                        "pipelines": {kind: {"receivers": ["otlp"], "exporters": ["file"]}
                                      for kind in ("traces", "metrics", "logs")}},
        }
        (folder / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
        super().__init__([str(binary), "--config", str(folder / "config.yaml")], folder / "output", cwd=folder)
        self.wait_for(lambda: "Everything is ready" in self.printed(), "the collector did not start")

    def stop(self, *number: int) -> int:
        status = super().stop(*number)
        self.work.cleanup()
        return status

    def rows(self, kind: str) -> List[Dict[str, Any]]:
        """What came of resourceSpans, resourceLogs or resourceMetrics: their rows, each with the resource's attributes."""
        time.sleep(0.5)  # what it has received is in its file
        return list(rows(self.received, kind))


def rows(file: Path, kind: str) -> Iterator[Dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        for resource in json.loads(line).get(kind, []):
            (scopes,) = [inner for key, inner in resource.items() if key.startswith("scope")]
            for scope in scopes:
                for key, inner in scope.items():
                    if key in ("spans", "logRecords", "metrics"):
                        for row in inner:
                            yield {**row, "resource": resource["resource"]["attributes"]}
