"""An HTTP server whose answers a test chooses: a History Server that misbehaves, and what no package has."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any, Callable, Dict, List, NamedTuple, Union
from urllib.parse import parse_qs, urlsplit

from servers.local import LocalServer


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


class ChosenSite(LocalServer):
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

        self.listen(Handler)

    def times(self, path: str) -> int:
        return sum(asked.path == path for asked in self.asked)
