"""Requests whose end can be read in two ways: none of them lets a second request through."""

from __future__ import annotations

from pathlib import Path

import pytest
from servers.pyrometer import Server
from test_serve_attacks import lives, raw

INNER = b"GET /api/v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        b"Content-Length: 4\r\nContent-Length: %d\r\n" % (5 + len(INNER)),
        b"Content-Length: 5\r\nContent-Length: 5\r\n",
        b"Content-Length: 4, 5\r\n",
        b"Content-Length: +4\r\n",
        b"Content-Length: 0x4\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"Content-Length : 4\r\n",
    ],
)
def test_two_ends(tmp_path: Path, headers: bytes) -> None:
    with Server(tmp_path) as server:
        got = raw(server, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n0\r\n\r\n" + INNER, 2)
        assert got.count(b'"3.5') == 0, got
        assert got == b"" or got.startswith(b"HTTP/1.1 400 "), got
        lives(server)


def test_one_end(tmp_path: Path) -> None:
    """Bodies of either kind, and the next request on the same connection."""
    for headers, body in ((b"Content-Length: 2\r\n", b"{}"), (b"Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n")):
        with Server(tmp_path) as server:
            kind = b"Content-Type: application/json\r\n"
            got = raw(server, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + kind + headers + b"\r\n" + body + INNER, 2)
            assert got.count(b'"3.5') == 1, got
