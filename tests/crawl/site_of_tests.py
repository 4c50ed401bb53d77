"""An HTTP server whose answers a test chooses: a History Server that misbehaves, and what no package has."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Type, Union
from urllib.parse import parse_qs, urlsplit


class Asked(NamedTuple):
    method: str
    path: str
    query: Dict[str, str]
    headers: Dict[str, str]


class Reply(NamedTuple):
    body: bytes
    status: int = 200
    headers: Dict[str, str] = {}


Page = Union[Reply, Callable[[Asked], Reply]]


def as_json(value: Any, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(json.dumps(value, indent=2).encode(), status, {"Content-Type": "application/json", **named})


class ChosenSite:
    """Pages by path; `asked` remembers all requests in their order."""

    def __init__(self) -> None:
        self.pages: Dict[str, Page] = {}
        self.asked: List[Asked] = []
        self.lock = threading.Lock()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def handle_one(self) -> None:
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
                asked = Asked(self.command, parts.path, query, dict(self.headers))
                with site.lock:
                    site.asked.append(asked)
                page = site.pages.get(parts.path, Reply(b"nothing here", 404))
                reply = page(asked) if callable(page) else page
                try:
                    self.send_response(reply.status)
                    for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(reply.body)
                except OSError:
                    pass

            do_GET = do_POST = handle_one

            def log_message(self, format: str, *values: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> "ChosenSite":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def times(self, path: str) -> int:
        return sum(asked.path == path for asked in self.asked)
