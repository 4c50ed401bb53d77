"""A server between a client and another server: for what that one never does, or only at a moment that a test cannot meet."""

from __future__ import annotations

import http.server
import json
from typing import Any, Callable, List, Optional, Tuple

from servers import opensearch
from servers.local import LocalServer


class Between(LocalServer):
    """Passes requests on for as long as its context lasts. `before` is called with each path, and may give a status to
    answer instead; `change` is called with each answer, and may give None: then the answer is lost on its way."""

    def __init__(
        self,
        target: str,
        before: Optional[Callable[[str], Optional[int]]] = None,
        change: Optional[Callable[[str, Any], Any]] = None,
    ) -> None:
        self.target, self.before, self.change = target, before, change
        self.paths: List[str] = []
        self.listen(type("Handler", (Handler,), {"between": self}))

    def ask(self, method: str, path: str, body: bytes) -> Tuple[int, Optional[bytes]]:
        self.paths.append(path)
        status = self.before(path) if self.before else None
        if status:
            return status, b"{}"
        answer = opensearch.call(method, f"{self.target}{path}", body or None)
        if not self.change:
            return answer.status, answer.body
        changed = self.change(path, answer.json)
        return answer.status, None if changed is None else json.dumps(changed).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    between: Between

    def log_message(self, *_: object) -> None:
        pass

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, answer = self.between.ask(self.command, self.path, body)
        if answer is None:
            self.close_connection = True
            return
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = pass_on
