"""A reverse proxy that adds what real installations have before a plain server: TLS by an own authority, and a password."""

from __future__ import annotations

import base64
import http.client
import http.server
import shutil
import ssl
import subprocess
import tempfile
import urllib.parse
from pathlib import Path
from typing import Iterator, List, Tuple

from servers import Unavailable
from servers.local import LocalServer

ELLIPTIC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
# Of one connection, not of what it carries (RFC 9110, 7.6.1); the proxy sets the length itself.
NOT_PASSED = {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
LIMIT_S = 60


def openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def make_certificates(folder: Path) -> Tuple[Path, Path, Path]:
    """An authority, and a certificate of 127.0.0.1 and localhost that it signed: authority, chain, key."""
    if shutil.which("openssl") is None:
        raise Unavailable("openssl makes the certificates")
    authority, authority_key = folder / "authority.pem", folder / "authority.key"
    openssl("req", "-x509", *ELLIPTIC, "-days", 2, "-subj", "/CN=authority of the tests",
            "-addext", "keyUsage=critical,keyCertSign", "-keyout", authority_key, "-out", authority)
    wanted, chain, key = folder / "server.csr", folder / "server.pem", folder / "server.key"
    openssl("req", "-new", *ELLIPTIC, "-subj", "/CN=localhost", "-keyout", key, "-out", wanted)
    names = folder / "names"
    names.write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n", encoding="ascii")
    openssl("x509", "-req", "-in", wanted, "-CA", authority, "-CAkey", authority_key, "-CAcreateserial",
            "-days", 2, "-extfile", names, "-out", chain)
    return authority, chain, key


class TlsProxy(LocalServer):
    """Passes requests on to a local server, for as long as its context lasts; without the password the answer is 401."""

    def __init__(self, target: str, user: str = "pyrometer", password: str = "päss:word") -> None:
        self.user, self.password = user, password
        self.passed: List[Tuple[str, str]] = []  # method and path of what the target got
        self.work = tempfile.TemporaryDirectory(prefix="pyrometer-proxy-")
        self.authority, chain, key = make_certificates(Path(self.work.name))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        handler = type("Handler", (Handler,), {"proxy": self, "target": urllib.parse.urlsplit(target).netloc})
        self.listen(handler, type("OwnServer", (Server,), {"context": context}))
        self.url = self.url.replace("http:", "https:")

    def expected(self) -> str:
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()

    def close(self) -> None:
        super().close()
        self.work.cleanup()


class Server(http.server.ThreadingHTTPServer):
    """TLS in the threads of the connections: a client that does not shake hands stops no other."""

    context: ssl.SSLContext
    daemon_threads = True

    def finish_request(self, request: object, client_address: object) -> None:
        assert hasattr(request, "settimeout")
        request.settimeout(LIMIT_S)
        try:
            with self.context.wrap_socket(request, server_side=True) as wrapped:  # type: ignore[arg-type]
                self.RequestHandlerClass(wrapped, client_address, self)  # type: ignore[arg-type]
        except OSError:
            pass  # the client does not trust the authority, or went away


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: TlsProxy
    target: str

    def log_message(self, *_: object) -> None:
        pass

    def chunks(self) -> Iterator[bytes]:
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            if size == 0:
                while self.rfile.readline().strip():
                    pass  # trailers
                return
            yield self.rfile.read(size)
            self.rfile.readline()

    def body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(self.chunks())
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, status: int, headers: List[Tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in NOT_PASSED:
                self.send_header(name, value)
        length = len(body)
        if self.command == "HEAD":
            length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def pass_on(self) -> None:
        body = self.body()
        if self.headers.get("Authorization") != self.proxy.expected():
            challenge = [("WWW-Authenticate", 'Basic realm="tests", charset="UTF-8"'), ("Content-Type", "text/plain")]
            self.answer(401, challenge, b"" if self.command == "HEAD" else b"Unauthorized")
            return
        self.proxy.passed.append((self.command, self.path))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in NOT_PASSED}
        del headers["Authorization"]
        connection = http.client.HTTPConnection(self.target, timeout=LIMIT_S)
        try:
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            self.answer(answer.status, answer.getheaders(), answer.read())
        except OSError as error:
            self.answer(502, [("Content-Type", "text/plain")], str(error).encode())
        finally:
            connection.close()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = pass_on
