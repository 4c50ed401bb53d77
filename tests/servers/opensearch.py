"""A real OpenSearch of one node, without security: servers.tls_proxy is before it where TLS and passwords matter."""

from __future__ import annotations

import json
import re
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple, Optional

from servers import jars
from servers.process import ServerProcess

LISTENING = re.compile(r"listening on (127\.0\.0\.1:[0-9]+)")
LAUNCHER = Path(__file__).resolve().parent / "OpenSearchNode.java"
JAVA = ["-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
LIMIT_S = 60


class Answer(NamedTuple):
    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def call(method: str, url: str, body: Optional[bytes] = None, **options: Any) -> Answer:
    """One request with a JSON document, or lines of them; an answer with any status."""
    request = urllib.request.Request(url, method=method, data=body, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_S, **options) as answer:
            return Answer(answer.status, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read())


class Node(ServerProcess):
    """Runs for as long as its context lasts, and keeps its data in a folder that goes with it."""

    def __init__(self) -> None:
        libraries = jars.opensearch()
        self.work = tempfile.TemporaryDirectory(prefix="pyrometer-opensearch-")
        home = Path(self.work.name) / "home"
        temporary = f"-Djava.io.tmpdir={self.work.name}"
        command = ["java", *JAVA, temporary, "-cp", f"{libraries}/*", str(LAUNCHER), str(home)]
        super().__init__(command, Path(self.work.name) / "output", cwd=self.work.name)
        self.url = f"http://{self.wait_for(lambda: LISTENING.search(self.printed()), 'OpenSearch did not start').group(1)}"
        self.prefixes = 0

    def stop(self, *number: int) -> int:
        status = super().stop(*number)
        self.work.cleanup()
        return status

    def call(self, method: str, path: str, document: Any = None) -> Answer:
        """A request with a document, with the lines of a bulk request, or without any."""
        if isinstance(document, list):
            document = "".join(f"{json.dumps(line)}\n" for line in document).encode()
        elif document is not None:
            document = json.dumps(document).encode()
        return call(method, f"{self.url}{path}", document)

    def new_prefix(self) -> str:
        """For the names of the indices of one test."""
        self.prefixes += 1
        return f"test{self.prefixes}"

    def remove(self, prefix: str) -> None:
        """Everything whose name begins with PREFIX-."""
        for path in ("_data_stream/", "", "_index_template/", "_component_template/", "_ingest/pipeline/"):
            answer = self.call("DELETE", f"/{path}{prefix}-*")
            assert answer.status in (200, 404), answer
