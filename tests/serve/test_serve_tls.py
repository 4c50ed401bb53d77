"""TLS and tokens that change while the server runs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional, Tuple

import pytest
from servers.pyrometer import Server
from test_serve_attacks import LOG, add_token

VERSION = b"GET /api/v1/version HTTP/1.1\r\nHost: localhost\r\n\r\n"


def make_certificate(folder: Path, name: str) -> Tuple[Path, Path]:
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    cert, key = folder / f"{name}.cert", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True)
    return cert, key


class Guarded:
    """A server with TLS, and all that it says on standard error."""

    def __init__(self, root: Path, *options: str) -> None:
        self.root = root
        (root / "logs").mkdir()
        shutil.copy(LOG, root / "logs" / LOG.name)
        self.uploads = root / "uploads"
        self.first = make_certificate(root, "first")
        self.cert, self.key = root / "cert.pem", root / "key.pem"
        self.install(*self.first)
        self.server = Server(root / "logs", "--tls-cert", str(self.cert), "--tls-key", str(self.key), "--uploads",
                             str(self.uploads), *options)
        self.said: List[str] = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self) -> None:
        assert self.server.process.stderr is not None
        for line in self.server.process.stderr:
            self.said.append(line)

    def install(self, cert: Path, key: Path) -> None:
        for source, target in ((cert, self.cert), (key, self.key)):
            beside = target.with_suffix(".new")
            shutil.copyfile(source, beside)
            os.replace(beside, target)

    def connect(self) -> ssl.SSLSocket:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        plain = socket.create_connection((self.server.host, self.server.port), timeout=20)
        return context.wrap_socket(plain)

    def presents(self) -> str:
        """The certificate that a new connection is shown."""
        with self.connect() as connection:
            shown = connection.getpeercert(binary_form=True)
        assert shown is not None
        return ssl.DER_cert_to_PEM_cert(shown)

    def until(self, condition: Callable[[], Any]) -> None:
        end = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < end, self.said
            time.sleep(0.05)


def of(pair: Tuple[Path, Path]) -> str:
    return pair[0].read_text(encoding="ascii")


def answers(connection: Any) -> bool:
    connection.sendall(VERSION)
    got = b""
    while b'"3.5' not in got:
        piece = connection.recv(65536)
        if not piece:
            return False
        got += piece
    return got.startswith(b"HTTP/1.1 200")


@pytest.fixture(name="guarded")
def make_guarded(tmp_path: Path) -> Iterator[Guarded]:
    made = Guarded(tmp_path)
    with made.server:
        yield made


@pytest.mark.parametrize("hangup", [False, True], ids=["by itself", "SIGHUP"])
def test_a_new_certificate(guarded: Guarded, hangup: bool) -> None:
    assert guarded.presents() == of(guarded.first)
    with guarded.connect() as old:
        assert answers(old)
        second = make_certificate(guarded.root, "second")
        guarded.install(*second)
        if hangup:
            guarded.server.process.send_signal(signal.SIGHUP)
        guarded.until(lambda: guarded.presents() == of(second))
        assert answers(old)  # with the certificate that it began with
    assert guarded.said == []


def test_broken_certificates(guarded: Guarded) -> None:
    second = make_certificate(guarded.root, "second")
    broken = [(guarded.root / "empty", second[1]), (guarded.root / "text", second[1]), (second[0], guarded.first[1]),
              (second[0], guarded.root / "text"), (second[0], second[0])]
    (guarded.root / "empty").write_bytes(b"")
    (guarded.root / "text").write_bytes(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    for number, pair in enumerate(broken):
        guarded.install(*pair)
        guarded.until(lambda: len(guarded.said) == number + 1)
        assert "continues with the previous one" in guarded.said[-1]
        assert guarded.presents() == of(guarded.first)
    guarded.cert.unlink()
    guarded.until(lambda: len(guarded.said) == len(broken) + 1)
    assert "cert.pem: cannot be read" in guarded.said[-1]
    assert guarded.presents() == of(guarded.first)
    guarded.install(*second)
    guarded.until(lambda: guarded.presents() == of(second))


def test_many_new_certificates(guarded: Guarded) -> None:
    """Handshakes go on while certificates change under them."""
    pairs = [guarded.first, make_certificate(guarded.root, "second")]
    known, seen, stop = {of(pair) for pair in pairs}, [], threading.Event()

    def work() -> None:
        while not stop.is_set():
            seen.append(guarded.presents())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for number in range(30):
        guarded.install(*pairs[(number + 1) % 2])
        guarded.server.process.send_signal(signal.SIGHUP)
        time.sleep(0.1)
    stop.set()
    for one in threads:
        one.join()
    assert set(seen) == known  # a pair that is read between two renames is refused, and never shown


def test_a_wrong_start(tmp_path: Path) -> None:
    first, second = make_certificate(tmp_path, "first"), make_certificate(tmp_path, "second")
    with pytest.raises(AssertionError, match="is not the key of the certificate"):
        Server(tmp_path, "--tls-cert", str(first[0]), "--tls-key", str(second[1]))


def test_a_broken_file_of_tokens(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    token = add_token(file, "vera")
    guarded = Guarded(tmp_path, "--tokens", str(file))
    request = VERSION.replace(b"Host:", f"Authorization: Bearer {token}\r\nHost:".encode())

    def status() -> bytes:
        with guarded.connect() as connection:
            connection.sendall(request)
            return connection.recv(65536)[9:12]

    with guarded.server:
        assert status() == b"200"
        whole = file.read_text(encoding="ascii")
        file.write_text("vera nothing\n", encoding="ascii")
        guarded.until(lambda: any("line 1: this is not a token: the role" in line for line in guarded.said))
        assert status() == b"200"
        guarded.server.process.send_signal(signal.SIGHUP)  # is said again when it is asked for
        guarded.until(lambda: len(guarded.said) == 2)
        file.write_text("# nobody\n", encoding="ascii")
        guarded.until(lambda: status() == b"401")
        file.write_text(whole, encoding="ascii")
        guarded.until(lambda: status() == b"200")


# ---- What breaks off ----


def part(length: int) -> bytes:
    head = b"POST /pyrometer/v1/uploads?name=half HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % length
    return head + b"x" * 50_000


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
def test_many_uploads_break_off(tmp_path: Path, secure: bool) -> None:
    """Their end comes together with their last bytes; a wait for idle connections takes longer than this."""
    place: Optional[Guarded] = Guarded(tmp_path) if secure else None
    if place:
        server = place.server
    else:
        (tmp_path / "logs").mkdir()
        server = Server(tmp_path / "logs", "--uploads", str(tmp_path / "uploads"))
    with server:
        for _ in range(60):
            connection = place.connect() if place else socket.create_connection((server.host, server.port), timeout=20)
            connection.sendall(part(9_000_000))
            connection.close()
        end = time.monotonic() + 12
        while list((tmp_path / "uploads").glob(".incoming-*")):
            assert time.monotonic() < end
            time.sleep(0.05)


def test_half_closed_clients_are_answered(tmp_path: Path) -> None:
    """Who has sent all that was announced may close that direction."""
    (tmp_path / "logs").mkdir()
    data = LOG.read_bytes()
    with Server(tmp_path / "logs", "--uploads", str(tmp_path / "uploads")) as server:
        head = b"POST /pyrometer/v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(data)
        with socket.create_connection((server.host, server.port), timeout=20) as connection:
            connection.sendall(head + data)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(65536).startswith(b"HTTP/1.1 201 ")
