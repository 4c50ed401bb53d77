"""A store of objects that is slow and refuses some requests, before a real one: what large buckets do that a test cannot fill."""

from __future__ import annotations

import http.client
import http.server
import threading
import time
from typing import Optional

from servers.local import LocalServer

SLOW_DOWN = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
OWN = {"connection", "expect", "keep-alive", "transfer-encoding"}


class Throttled(LocalServer):
    """Each request that writes takes as long as its bytes do at this rate, and every n-th one is refused with 503 at first."""

    def __init__(self, port: int, bytes_per_s: float, refuse_every: int = 0) -> None:
        self.target, self.bytes_per_s, self.refuse_every = port, bytes_per_s, refuse_every
        self.lock = threading.Lock()
        self.writes = self.refused = 0
        self.listen(type("Handler", (Handler,), {"throttled": self}))
        self.port = self.server.server_port

    def refuses(self) -> bool:
        with self.lock:
            self.writes += 1
            refused = self.refuse_every > 0 and self.writes % self.refuse_every == 0
            self.refused += refused
            return refused


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    throttled: Throttled

    def log_message(self, *_: object) -> None:
        pass

    def pass_on(self) -> None:
        body: Optional[bytes] = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
        if self.command in ("PUT", "POST"):
            if self.throttled.refuses():
                self.answer(503, [("Content-Type", "application/xml")], SLOW_DOWN)
                return
            time.sleep(len(body or b"") / self.throttled.bytes_per_s)
        connection = http.client.HTTPConnection("127.0.0.1", self.throttled.target, timeout=300)
        try:
            # The signature is over the name that the client called.
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in OWN:
                    connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            headers = [(name, value) for name, value in response.getheaders() if name.lower() not in OWN | {"content-length"}]
            self.answer(response.status, headers, response.read(), response.getheader("Content-Length"))
        finally:
            connection.close()

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes, length: Optional[str] = None) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = pass_on
