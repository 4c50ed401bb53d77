"""An HTTP server that a test makes itself: on loopback and a free port, in a thread."""

from __future__ import annotations

import http.server
import threading
from types import TracebackType
from typing import Optional, Type, TypeVar

Self = TypeVar("Self", bound="LocalServer")


class LocalServer:
    """Answers from `listen` to `close`, or to the end of its context."""

    def listen(
        self,
        handler: Type[http.server.BaseHTTPRequestHandler],
        kind: Type[http.server.ThreadingHTTPServer] = http.server.ThreadingHTTPServer,
    ) -> None:
        self.server = kind(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()
