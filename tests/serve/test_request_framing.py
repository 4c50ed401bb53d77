"""Requests whose end can be read in two ways: none of them lets a second request through."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Iterator

import pytest
from servers.pyrometer import Server
from test_serve_attacks import lives, raw

INNER = b"GET /api/v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("logs")) as server:
        yield server


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


VERSION = b"GET /api/v1/version HTTP/1.1\r\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + INNER,
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding:\r\n\tchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + INNER,
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length:\r\n %d\r\n\r\n" % len(INNER) + INNER,
        VERSION + b"Host: localhost\r\nX: a\r\n b\r\n\r\n",
        VERSION + b"Host: localhost\r\nX: a\r\n \r\n\r\n",
        VERSION + b" X: y\r\nHost: localhost\r\n\r\n",
        VERSION + b"Host: localhost\r\nHost: localhost\r\n\r\n",
        VERSION + b"Host: localhost\r\nhOST: elsewhere\r\n\r\n",
        VERSION.replace(b"\r\n", b"\n") + b"Host: localhost\n\n",
        VERSION + b"Host: localhost\nX: y\r\n\r\n",
        VERSION + b"Host: localhost\r\nX: y\n\n",
        VERSION + b"Host: localhost\r\nX: y\r\n\n",
        VERSION + b"Host: localhost\r\nX: y\rZ: z\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: y\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + INNER,
        VERSION + b"Host: localhost\r\nX: a\0b\r\n\r\n",
        VERSION + b"Host: localhost\r\nX: \x01\r\n\r\n",
        VERSION + b"Host: localhost\r\nX : a\r\n\r\n",
        VERSION + b"Host: localhost\r\nX\r\n\r\n",
        VERSION + b"Host: localhost\r\n: x\r\n\r\n",
        VERSION + b"Host: localhost\r\nX(a): x\r\n\r\n",
        VERSION.replace(b"1.1", b"1.2") + b"Host: localhost\r\n\r\n",
        b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + INNER,
    ],
)
def test_two_readings(shared: Server, request_bytes: bytes) -> None:
    got = raw(shared, request_bytes, 2)
    assert got.startswith(b"HTTP/1.1 400 ") and got.count(b"HTTP/1.1 ") == 1, got
    lives(shared)


def in_bytes(server: Server, data: bytes) -> bytes:
    """Sends each byte by itself."""
    with socket.create_connection((server.host, server.port), timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        got = b""
        try:
            for byte in data:
                connection.sendall(bytes([byte]))
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                got += piece
        except OSError:
            pass  # it was closed before all was sent
        return got


def test_pieces_read_the_same(shared: Server) -> None:
    """However a request arrives."""
    good = VERSION + b"Host: localhost\r\nX: a \t\r\nY:\r\nCookie: a=b; c=d\r\nConnection: close\r\n\r\n"
    assert in_bytes(shared, good).startswith(b"HTTP/1.1 200 ")
    assert in_bytes(shared, good.replace(b"X: a \t", b"X: a\r\n b")).startswith(b"HTTP/1.1 400 ")
    assert raw(shared, (INNER.replace(b"localhost", b"localhost\r\nX:  y")) * 3, 2).count(b'"3.5') == 3


@pytest.mark.parametrize(("count", "status"), [(64, 200), (65, 414), (500, 414), (5000, 414)])
def test_parameters(shared: Server, count: int, status: int) -> None:
    query = b"&".join(b"a%d" % i for i in range(count))
    got = raw(shared, VERSION.replace(b" HTTP", b"?" + query + b" HTTP") + b"Host: localhost\r\n\r\n", 2)
    assert got.startswith(b"HTTP/1.1 %d " % status), got[:200]
    lives(shared)


@pytest.mark.parametrize(("header", "status"), [
    (b"Cookie: " + b"; ".join(b"a%d=b" % i for i in range(100)) + b"\r\n", 200),
    (b"Cookie: " + b"; ".join(b"a%d=b" % i for i in range(500)) + b"\r\n", 431),
    (b"Cookie: a=b\r\n" * 500, 431),
    (b"".join(b"X%d: y\r\n" % i for i in range(2000)), 431),
    (b"X: " + b"y" * 40_000 + b"\r\n", 431),
], ids=["some cookies", "cookies", "cookie headers", "headers", "long header"])
def test_headers(shared: Server, header: bytes, status: int) -> None:
    got = raw(shared, VERSION + b"Host: localhost\r\n" + header + b"\r\n", 2)
    assert got.startswith(b"HTTP/1.1 %d " % status), got[:200]
    lives(shared)


@pytest.mark.parametrize("chunks", [
    b"2\r\n{}\r\n0\r\n\r\n", b"2;a=b\r\n{}\r\n0\r\n\r\n", b"2\n{}\n0\n\n", b"2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n",
    b"2\r\n{}\r\n0\r\n\r\n\r\n", b"0x2\r\n{}\r\n0\r\n\r\n", b"2 \r\n{}\r\n0\r\n\r\n", b"02\r\n{}xx0\r\n\r\n"])
def test_nothing_follows_chunks(shared: Server, chunks: bytes) -> None:
    """Whatever they look like, what comes behind them is not read: the connection is closed."""
    kind = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    got = raw(shared, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + kind + chunks + INNER, 2)
    assert got.count(b'"3.5') == 0 and got.count(b"HTTP/1.1 ") == 1, got
    lives(shared)


def test_one_end(shared: Server) -> None:
    """A body of a stated length, and the next request on the same connection."""
    kind = b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    got = raw(shared, b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + kind + b"{}" + INNER, 2)
    assert got.count(b'"3.5') == 1, got
