"""What all uploads may take together: room, number, what they leave free of the disk."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from pathlib import Path
from typing import Any, Iterator

import pytest
from test_serve_uploads import MB, START, Place, wait_for


def distinct(number: int) -> bytes:
    """A log of an application of its own, of about a megabyte that does not compress."""
    start = START.replace(b"app-bomb", b"app-%d" % number)
    filler = b"\n".join(json.dumps({"Event": f"org.example.Filler{os.urandom(8).hex()}", "x": os.urandom(60).hex()}).encode() for _ in range(5000))
    return start + b"\n" + filler + b"\n"


def at_once(place: Place, bodies: Any) -> Any:
    """The answers to uploads that are sent at the same time."""
    answers: Any = []
    gate = threading.Barrier(len(bodies))

    def work(number: int) -> None:
        gate.wait()
        answers.append(place.upload(f"log{number}", bodies[number]))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(bodies))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return answers


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "in chunks"])
def test_uploads_race_for_the_room(tmp_path: Path, announced: bool) -> None:
    place = Place(tmp_path, "--uploads-size", "4M", "--uploads-free", "1K")
    with place.server:
        bodies = [distinct(i) for i in range(12)]
        fit = 4 * MB // max(map(len, bodies))
        assert fit == 4 * MB // min(map(len, bodies)) >= 3
        answers = at_once(place, bodies if announced else [Pieces(one) for one in bodies])
        statuses = sorted(status for status, _ in answers)
        taken = statuses.count(201)
        assert set(statuses) == {201, 507}
        assert taken == fit if announced else 1 <= taken <= fit  # what comes in pieces may take one another's room
        refusal = next(document["error"] for status, document in answers if status == 507)
        assert refusal["code"] == "no_space" and "may take 4194304 bytes" in refusal["message"]
        assert len([name for name in place.files() if name.startswith("inner/uploads/")]) == taken
        while place.upload("more", distinct(99))[0] == 201:
            pass
        kept = place.ask("GET", "applications")[1]["applications"]
        for one in kept:
            if one["attempts"][0]["uploaded"]:
                assert place.ask("DELETE", f"uploads/{one['id']}/-")[0] == 204
        assert [place.upload(f"again{i}", body)[0] for i, body in enumerate(bodies[:fit])] == [201] * fit


class Pieces:
    """A body whose length is not said."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self.data), 65536):
            yield self.data[at:at + 65536]


def test_the_number_of_uploads(tmp_path: Path) -> None:
    place = Place(tmp_path, "--uploads-count", "3", "--uploads-free", "1K")
    with place.server:
        answers = at_once(place, [START.replace(b"app-bomb", b"app-%d" % i) for i in range(10)])
        assert sorted(status for status, _ in answers) == [201] * 3 + [507] * 7
        assert "at most 3 uploads" in next(document["error"]["message"] for status, document in answers if status == 507)
        assert place.upload("x", b"no log")[0] == 507
        for path in place.uploads.iterdir():  # by another process
            path.unlink()
        wait_for(lambda: place.upload("x", START)[0] == 201)


def test_refused_uploads_hold_no_room(tmp_path: Path) -> None:
    place = Place(tmp_path, "--uploads-size", "3M", "--uploads-count", "2", "--uploads-free", "1K")
    with place.server:
        for _ in range(4):
            assert place.upload("x", b"no log at all" * 150_000)[0] == 422
            with socket.create_connection((place.server.host, place.server.port), timeout=20) as connection:
                connection.sendall(b"POST /pyrometer/v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n" + b"x" * 1000)
                wait_for(lambda: list(place.uploads.glob(".incoming-*")))
            wait_for(lambda: not list(place.uploads.glob(".incoming-*")))
        assert place.upload("x", distinct(1))[0] == 201


def test_room_is_refused_before_the_body(tmp_path: Path) -> None:
    place = Place(tmp_path, "--uploads-size", "1M", "--uploads-free", "1K")
    with place.server:
        for head in (b"Content-Length: 99000000\r\n", b"Content-Length: 2000000\r\nExpect: 100-continue\r\n"):
            with socket.create_connection((place.server.host, place.server.port), timeout=20) as connection:
                connection.sendall(b"POST /pyrometer/v1/uploads HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n")
                assert connection.recv(65536).startswith(b"HTTP/1.1 507 ")
        assert place.upload("x", distinct(1))[0] == 201


def test_the_disk_keeps_room(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    place = Place(tmp_path, "--uploads-free", f"{(free + (64 << 30)) >> 10}K")
    with place.server:
        status, document = place.upload("x", START)
        assert status == 507 and "of its disk free" in document["error"]["message"]
        assert not list(place.uploads.iterdir())
