"""Uploads that were made to do harm: each is refused or does none, and the server answers others afterwards."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import lzma
import os
import re
import resource
import shutil
import socket
import tarfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, Optional, Set, Tuple
from urllib.parse import quote

import cramjam
import pytest
from servers.pyrometer import Server

import conftest

LOG = conftest.ROOT / "corpus" / "logs" / "healthy_sql.zst"
SERVED = LOG.with_name("data_skew.zst")
MB = 1 << 20
START = b"\n".join(
    json.dumps(event).encode()
    for event in (
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": "bomb", "App ID": "app-bomb", "Timestamp": 1, "User": "eve"},
    )
)
# With spaces, which deflate makes 1028 times smaller.
EVENT = b'{"Event":"SparkListenerJobEnd","Job ID":0,%s"Completion Time":2,"Job Result":{"Result":"JobSucceeded"}}\n' % (b" " * (16 * MB - 200))
PIECE = EVENT
ZIP_TYPES = {"link": 0o120777, "device": 0o020666, "pipe": 0o010666, "socket": 0o140777}


class Place:
    """A server whose uploads folder is in a folder that is watched for what escapes."""

    def __init__(self, root: Path, *options: str) -> None:
        self.root, self.uploads = root, root / "inner" / "uploads"
        (root / "inner").mkdir()
        (root / "logs").mkdir()
        shutil.copy(SERVED, root / "logs" / SERVED.name)
        self.server = Server(root / "logs", "--uploads", f"{self.uploads}/", "--config", "none", *options)

    def ask(self, method: str, path: str, body: Any = None, headers: Optional[Dict[str, str]] = None) -> Tuple[int, Any]:
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
        try:
            connection.request(method, f"/pyrometer/v1/{path}", body=body, headers=headers or {})
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else None
        finally:
            connection.close()

    def upload(self, name: str, body: bytes) -> Tuple[int, Any]:
        return self.ask("POST", f"uploads?name={quote(name, safe='')}", body)

    def refused(self, body: bytes, name: str = "x") -> str:
        """Nothing is kept of it; the message."""
        before = self.files()
        status, document = self.upload(name, body)
        assert status == 422, (status, document)
        assert self.files() == before
        return str(document["error"]["message"])

    def remove(self, document: Any) -> None:
        for one in document["applications"]:
            assert self.ask("DELETE", f"uploads/{one['id']}/{one['attempt'] or '-'}")[0] == 204

    def files(self, settled: bool = True) -> Set[str]:
        """The present files; bodies are removed just after their answers."""
        end = time.monotonic() + 20
        while True:
            found = {str(path.relative_to(self.root)) for path in self.root.rglob("*")}
            if not settled or not any("/.incoming-" in path for path in found):
                return found
            assert time.monotonic() < end
            time.sleep(0.01)

    def peak(self) -> int:
        status = Path(f"/proc/{self.server.process.pid}/status").read_text(encoding="ascii")
        match = re.search(r"VmHWM:\s+([0-9]+) kB", status)
        assert match is not None
        return int(match.group(1)) * 1024


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("place"))
    with made.server:
        yield made
        assert made.ask("GET", "applications")[0] == 200


def archive(members: Dict[str, bytes], modes: Optional[Dict[str, int]] = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = ((modes or {}).get(name) or 0o100644) << 16
            made.writestr(info, data)
    return out.getvalue()


# ---- A rolling log as the page sends it ----


def test_a_rolling_log_in_an_archive_is_one_application(place: Place) -> None:
    lines = bytes(cramjam.zstd.decompress(LOG.read_bytes())).splitlines(keepends=True)
    folder, half = "eventlog_v2_app-rolled", len(lines) // 2
    members = {"appstatus_app-rolled": b"", "events_1_app-rolled": b"".join(lines[:half]), "events_2_app-rolled": b"".join(lines[half:])}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:  # stored: event logs are compressed where that pays
        for name, data in members.items():
            made.writestr(f"{folder}/{name}", data)
    status, document = place.upload(f"{folder}.zip", out.getvalue())
    assert status == 201 and len(document["applications"]) == 1 and not document["unreadable"]
    app = document["applications"][0]
    status, report = place.ask("GET", f"applications/{app['id']}/{app['attempt'] or '-'}/report")
    assert status == 200 and report["integrity"]["lines"] == len(lines)
    place.remove(document)


# ---- More than was sent ----


def deflate_bomb(megabytes: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made, made.open("log", "w") as member:
        member.write(START + b"\n")
        for _ in range(megabytes // 16):
            member.write(PIECE)
    return out.getvalue()


def gzip_bomb() -> bytes:
    return gzip.compress(START + b"\n") + gzip.compress(PIECE) * 40


def zstd_bomb() -> bytes:
    return bytes(cramjam.zstd.compress(START + b"\n")) + bytes(cramjam.zstd.compress(PIECE)) * 100


def zeros_bomb() -> bytes:
    return gzip.compress(b"\0" * 16 * MB) * 40


def lines_in_zip() -> bytes:
    return archive({"log.zst": zstd_bomb()})


def shared_zip() -> bytes:
    """What one member may not do, many may not do together."""
    member = bytes(cramjam.zstd.compress(START + b"\n")) + bytes(cramjam.zstd.compress(PIECE)) * 8
    return archive({f"log{i}.zst": member for i in range(40)})


@pytest.mark.parametrize("make", [lambda: deflate_bomb(320), gzip_bomb, zstd_bomb, zeros_bomb, lines_in_zip, shared_zip],
                         ids=["zip", "gzip", "zstd", "zeros", "zstd in zip", "many in zip"])
def test_bombs(place: Place, make: Any) -> None:
    bomb = make()
    assert len(bomb) < 12 * MB
    message = place.refused(bomb)
    assert "decompresses to more than" in message or "has a line of more than" in message
    assert place.peak() < 700 * MB  # the bombs are of up to 1.6 GB; a sanitizer takes some of the room


def test_large_logs_are_no_bombs(place: Place) -> None:
    status, document = place.upload("large.gz", gzip.compress(START + b"\n") + gzip.compress(PIECE) * 3)
    assert status == 201
    place.remove(document)


# ---- Archives ----


def test_archives_of_many_members(place: Place, tmp_path: Path) -> None:
    few, many = tmp_path / "few.zip", tmp_path / "many.zip"
    for path, count in ((few, 1001), (many, 100_000)):
        with zipfile.ZipFile(path, "w") as made:
            for i in range(count):
                made.writestr(zipfile.ZipInfo(f"log{i}"), START)
        assert "more than 1000 files" in place.refused(path.read_bytes())
    run = conftest.run_command([str(conftest.binary_path()), "diagnose", str(many)])
    assert run.exit != 0 and b"more than 10000 files" in run.err


def tar_of(members: Dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["tar", "tar.gz", "tar.xz"])
def test_tar_archives(place: Place, pack: Any) -> None:
    """Like zip archives, whatever name they come with; nothing is unpacked, and members are few where each costs a pass."""
    before = place.files()
    status, document = place.upload("logs", pack(tar_of({"../../log.zst": LOG.read_bytes()})))
    assert status == 201 and len(document["applications"]) == 1
    assert len(place.files()) == len(before) + 1
    place.remove(document)
    most = 1000 if pack is bytes else 100
    assert f"more than {most} files" in place.refused(pack(tar_of({f"log{i}": START for i in range(most + 1)})))
    bomb = tar_of({"log": START + b"\n" + bytes(70 * MB)})
    message = place.refused(pack(bomb) if pack is not bytes else gzip.compress(bomb))
    assert "decompresses to more than" in message or "has a line of more than" in message


def test_archives_in_archives(place: Place) -> None:
    inner = archive({"log": START})
    for _ in range(10):
        inner = archive({"log": inner})
    assert "zip archive inside an archive" in place.refused(inner)


@pytest.mark.parametrize("name", ["../../escaped", "/tmp/../../escaped", "..\\..\\escaped", "a/../../../escaped", "C:\\escaped"])
def test_members_that_lead_elsewhere(place: Place, name: str) -> None:
    before = place.files()
    status, document = place.upload("slip.zip", archive({name: LOG.read_bytes()}))
    if status == 201:  # read where it lies: its name is only shown
        assert place.files() - before == {"inner/uploads/slip.zip"}
        place.remove(document)
    assert place.files() == before
    assert not list(Path("/tmp").glob("escaped*"))


@pytest.mark.parametrize("kind", sorted(ZIP_TYPES))
def test_members_that_are_no_files(place: Place, kind: str) -> None:
    message = place.refused(archive({"log": b"/etc/passwd"}, {"log": ZIP_TYPES[kind]}))
    assert "without event logs" in message or "not a Spark event log" in message  # bytes like others', and nothing that is opened


def test_members_with_odd_names(place: Place) -> None:
    assert "longer than 4096 bytes" in place.refused(archive({"x" * 60_000: START}))
    whole = archive({"name-of-it": START}).replace(b"name-of-it", b"name\0of\nit")
    status, document = place.upload("nul.zip", whole)
    assert status in (201, 422)
    if status == 201:
        place.remove(document)


def test_archives_that_lie(place: Place) -> None:
    """The central directory says that 320 MB are 10 bytes."""
    bomb = bytearray(deflate_bomb(320))
    at = bomb.rfind(b"PK\x01\x02")
    bomb[at + 24:at + 28] = (10).to_bytes(4, "little")
    message = place.refused(bytes(bomb))
    assert "decompresses to more than" in message or "no start event" in message
    assert place.peak() < 700 * MB


# ---- Names ----


@pytest.mark.parametrize("name", [
    "", ".", "..", "../../escaped", "/etc/passwd", "..%2f..%2fescaped", "..\\..\\escaped", "a\0b", "a\nb\x1b[31m", "a/", ".hidden",
    "_hidden", "x" * 4096, "a.crc", "appstatus_a", "events_1_a", "eventlog", "eventlog-2024-01-01--00-00", "\u202ea\u00e9", "a!b"])
def test_names(place: Place, name: str) -> None:
    before = place.files()
    status, document = place.upload(name, LOG.read_bytes())
    if set(name) & set("\0\n"):
        assert status == 400 and place.files() == before
        return
    assert status == 201, document
    made = place.files() - before
    assert len(made) == 1
    assert re.fullmatch(r"inner/uploads/[A-Za-z0-9][A-Za-z0-9._-]{0,127}", made.pop())
    place.remove(document)
    assert place.files() == before


def test_uploads_of_the_same_name_are_not_joined(place: Place) -> None:
    before = place.files()
    other = LOG.with_name("idle_executors.zst").read_bytes()
    made = [place.upload(name, data) for name, data in
            (("eventlog", LOG.read_bytes()), ("eventlog-2024-01-01--00-00", other), ("eventlog", other))]
    assert [status for status, _ in made] == [201, 201, 201]
    assert [len(document["applications"]) for _, document in made][:2] == [1, 1]
    for path in place.uploads.iterdir():
        path.unlink()
    assert place.files() == before


# ---- Who and when ----


def test_only_uploads_are_deleted(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.server:
        one = place.ask("GET", "applications")[1]["applications"][0]
        path = f"uploads/{one['id']}/{one['attempts'][0]['attempt'] or '-'}"
        assert place.ask("DELETE", path)[0] == 403
        for odd in ("..%2f..%2flogs/1", "%2e%2e/logs", "x%00/1"):
            assert place.ask("DELETE", f"uploads/{odd}")[0] in (400, 404)
        assert (tmp_path / "logs" / SERVED.name).exists()


def test_uploads_hide_no_logs(place: Place) -> None:
    """A later log of the same application, which anybody can make up."""
    before = [one for one in place.ask("GET", "applications")[1]["applications"] if one["name"] == "data_skew"]
    fake = bytes(cramjam.zstd.decompress(SERVED.read_bytes())).replace(b'"App Name":"data_skew"', b'"App Name":"fake"')
    refusal = place.refused(fake)
    assert "has the same attempt" in refusal and SERVED.stem not in refusal and "/" not in refusal
    after = place.ask("GET", "applications")[1]["applications"]
    assert before and [one for one in after if one["id"] == before[0]["id"]] == before


def test_uploads_are_known_after_a_start(tmp_path: Path) -> None:
    cache = ("--cache", str(tmp_path / "cache"))
    place = Place(tmp_path, *cache)
    other = LOG.with_name("idle_executors.zst").read_bytes()
    with place.server:
        for name, data in (("log", other), ("log.zip", archive({"log": START}))):
            assert place.upload(name, data)[0] == 201
    place.server = Server(tmp_path / "logs", "--uploads", str(place.uploads), "--config", "none", *cache)
    with place.server:
        uploaded = [one for one in place.ask("GET", "applications")[1]["applications"] if one["attempts"][0]["uploaded"]]
        assert len(uploaded) == 2
        for one in uploaded:
            assert place.ask("DELETE", f"uploads/{one['id']}/{one['attempts'][0]['attempt'] or '-'}")[0] == 204
    assert not list(place.uploads.iterdir())


def test_viewers_do_not_upload(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    words = [str(conftest.binary_path()), "serve", "--add-token", "vera", "--role", "view", "--tokens", str(tokens)]
    run = conftest.run_command(words)
    assert run.exit == 0, run.err
    token = {"Authorization": f"Bearer {run.out.decode().strip()}"}
    place = Place(tmp_path, "--tokens", str(tokens))
    with place.server:
        before = place.files()
        # Refused by its head: the body is never waited for.
        head = f"POST /pyrometer/v1/uploads HTTP/1.1\r\nHost: localhost\r\n{next(iter(token))}: {token['Authorization']}\r\n"
        with socket.create_connection((place.server.host, place.server.port), timeout=20) as connection:
            connection.sendall(f"{head}Content-Length: 1000000\r\n\r\n".encode())
            assert connection.recv(65536).startswith(b"HTTP/1.1 403 ")
        assert place.ask("POST", "uploads", LOG.read_bytes())[0] == 401
        assert place.files() == before


def test_refusals_name_no_hidden_log(tmp_path: Path) -> None:
    """Who uploads may not see the application that the same attempt is of already."""
    tokens = tmp_path / "tokens"
    words = [str(conftest.binary_path()), "serve", "--add-token", "ugo", "--role", "upload", "--tokens", str(tokens)]
    token = {"Authorization": f"Bearer {conftest.run_command(words).out.decode().strip()}"}
    place = Place(tmp_path, "--tokens", str(tokens), "--acls")
    with place.server:
        assert place.ask("GET", "applications", headers=token)[1]["total"] == 0
        for data in (SERVED.read_bytes(), archive({"a.zst": SERVED.read_bytes(), "b": START})):
            status, document = place.ask("POST", "uploads?name=mine", data, token)
            text = json.dumps(document)
            assert status == (422 if data == SERVED.read_bytes() else 201)
            assert "same attempt" in text and SERVED.name not in text and str(tmp_path) not in text


def test_uploads_and_deletes_at_once(place: Place) -> None:
    body, statuses, lock = LOG.read_bytes(), [], threading.Lock()
    before = place.files()
    app = json.loads(json.dumps(place.upload("same", body)[1]))["applications"][0]
    path = f"uploads/{app['id']}/{app['attempt'] or '-'}"

    def work(number: int) -> None:
        for _ in range(3):
            status = place.upload("same", body)[0] if number % 2 else place.ask("DELETE", path)[0]
            with lock:
                statuses.append((number % 2, status))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert {status for sent, status in statuses if sent} <= {201, 422, 503}  # 503: on a busy machine, too many wait
    assert {status for sent, status in statuses if not sent} <= {204, 403, 404}
    for _ in range(70):
        if place.ask("DELETE", path)[0] != 204:
            break
    assert place.files() == before


# ---- Room ----


def test_broken_off_uploads_leave_nothing(place: Place) -> None:
    before = place.files()
    with socket.create_connection((place.server.host, place.server.port), timeout=20) as connection:
        connection.sendall(b"POST /pyrometer/v1/uploads?name=half HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n")
        connection.sendall(b"x" * 100_000)
        wait_for(lambda: sum(one.stat().st_size for one in place.uploads.glob(".incoming-*")) == 100_000)
    assert place.files() == before


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def chunked(size: int) -> Iterator[bytes]:
    for _ in range(size // 65536):
        yield b"x" * 65536


def test_uploads_that_are_too_large(tmp_path: Path) -> None:
    place = Place(tmp_path, "--max-upload", "1M")
    with place.server:
        before = place.files()
        with socket.create_connection((place.server.host, place.server.port), timeout=20) as connection:
            connection.sendall(b"POST /pyrometer/v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99000000\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")  # before a byte of the body
        assert place.ask("POST", "uploads", chunked(2 * MB))[0] == 413  # of a length that is not said
        assert place.files() == before


def test_uploads_without_room(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk, which only root can make."""
    place = Place(tmp_path)
    with place.server:
        before = place.files()
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.prlimit(place.server.process.pid, resource.RLIMIT_FSIZE, (MB, hard))
        status, document = place.upload("x", os.urandom(2 * MB))
        assert status == 507, document
        assert place.files() == before
        status, document = place.upload("x", LOG.read_bytes())
        assert status == 201
        place.remove(document)
