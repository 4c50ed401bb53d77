"""The service of Limited and its client, in a module of its own that Spark sends to the executors."""

from __future__ import annotations

import json
import logging
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Iterable, Iterator

import tenacity

REQUESTS_A_SECOND = 10
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
log = logging.getLogger("prices")


class Service(BaseHTTPRequestHandler):
    """Answers with the prices of orders; a limited number of requests a second."""

    lock = threading.Lock()
    left, filled = float(REQUESTS_A_SECOND), time.monotonic()

    @classmethod
    def is_allowed(cls) -> bool:
        with cls.lock:
            now = time.monotonic()
            cls.left = min(cls.left + (now - cls.filled) * REQUESTS_A_SECOND, REQUESTS_A_SECOND)
            cls.filled = now
            if cls.left < 1:
                return False
            cls.left -= 1
            return True

    def do_POST(self) -> None:
        orders = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        allowed = self.is_allowed()
        body = json.dumps([order * 31 % 97 for order in orders] if allowed else []).encode()
        self.send_response(200 if allowed else 429)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@tenacity.retry(wait=tenacity.wait_fixed(0.5), before_sleep=tenacity.before_sleep_log(log, logging.WARNING))
def ask_service(address: str, orders: list[int]) -> list[int]:
    """Return the prices of some orders."""
    request = urllib.request.Request(address, json.dumps(orders).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def one_by_one(address: str, orders: Iterable[int]) -> Iterator[int]:
    """A request for each order."""
    logging.basicConfig(format=FORMAT)
    for order in orders:
        yield from ask_service(address, [order])


def all_at_once(address: str, orders: Iterable[int]) -> list[int]:
    """One request."""
    return ask_service(address, list(orders))
