"""Collectors that take connections and then do not behave: they never answer, answer nonsense, or refuse everything."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import List, Optional, Type

KINDS = {
    "silent": b"",
    "nonsense": b"\x00\xff\x13garbage that is no protocol\r\n\r\n" * 50,
    "endless": b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nTransfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"x" * 1024,
    "refusing": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
}


class BadCollector:
    """Listens until its context ends."""

    def __init__(self, kind: str) -> None:
        self.answer, self.closes = KINDS[kind], kind in ("nonsense", "refusing")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        self.connections: List[socket.socket] = []
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # closed
                return
            self.connections.append(connection)
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection: socket.socket) -> None:
        try:
            if self.answer and connection.recv(65536):
                connection.sendall(self.answer)
            if self.closes:
                connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other side ended first

    def __enter__(self) -> BadCollector:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for connection in self.connections:
            connection.close()
