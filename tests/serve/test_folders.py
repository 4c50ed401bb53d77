"""Folders that change while they are served, and what is kept of them between starts."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import pytest
import zstandard
from servers.pyrometer import Server

import conftest

LOG = conftest.ROOT / "corpus" / "logs" / "data_skew.zst"
SOON = ("--update-interval", "100ms")
LIMIT_S = 60.0
MANY = 1000


def lines_of(path: Path) -> List[bytes]:
    return zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read().splitlines(keepends=True)


LINES = lines_of(LOG)
APP = json.loads(next(line for line in LINES if b'"SparkListenerApplicationStart"' in line[:60]))["App ID"]


def copy_of(app: str, lines: List[bytes] = LINES) -> bytes:
    return b"".join(lines).replace(APP.encode(), app.encode())


STARTS = [i for i, line in enumerate(LINES) if b'"SparkListenerJobStart"' in line[:60]]


def small(app: str) -> bytes:
    """The first and the last events: an application without jobs."""
    return copy_of(app, [*LINES[: STARTS[0]], LINES[-1]])


def applications(server: Server) -> Dict[str, Any]:
    return {one["id"]: one for one in json.loads(server.get("applications")[2])}


def wait_until(what: Callable[[], bool], why: str) -> None:
    end = time.monotonic() + LIMIT_S
    while not what():
        assert time.monotonic() < end, f"{why}: not within {LIMIT_S:.0f} s"
        time.sleep(0.02)


def jobs(server: Server, app: str = APP) -> int:
    status, _, body = server.get(f"applications/{app}/jobs")
    assert status == 200, body
    return len(json.loads(body))


def test_logs_come_grow_are_renamed_and_go(tmp_path: Path) -> None:
    with Server(tmp_path, *SOON) as server:
        assert applications(server) == {}
        running, final = tmp_path / f"{APP}.inprogress", tmp_path / APP
        assert len(STARTS) >= 2
        with running.open("wb", buffering=0) as log:
            log.write(b"".join(LINES[: STARTS[0]]))
            wait_until(lambda: APP in applications(server), "the log that came is listed")
            first = applications(server)[APP]["attempts"][0]
            assert not first["completed"] and first["endTimeEpoch"] == -1 and jobs(server) == 0
            log.write(b"".join(LINES[STARTS[0] : STARTS[0] + 1]) + LINES[STARTS[0] + 1][:20])  # a line half written
            wait_until(lambda: jobs(server) == 1, "the first job is seen")
            assert applications(server)[APP]["attempts"][0]["lastUpdatedEpoch"] >= first["lastUpdatedEpoch"]
            log.write(LINES[STARTS[0] + 1][20:] + b"".join(LINES[STARTS[0] + 2 :]))
            wait_until(lambda: jobs(server) == len(STARTS), "all jobs are seen")
        running.rename(final)
        wait_until(lambda: applications(server)[APP]["attempts"][0]["completed"], "the end is seen")
        with Server(tmp_path) as fresh:
            for path in ("applications", f"applications/{APP}/jobs", f"applications/{APP}/stages"):
                assert fresh.get(path) == server.get(path)
        final.unlink()
        wait_until(lambda: APP not in applications(server), "the log that went is not listed")
        assert server.get(f"applications/{APP}/jobs")[0] == 404


def test_renamed_between_two_looks(tmp_path: Path) -> None:
    """Spark's last write is a new name: a client that asks before the next look must not get the answer that there is
    no such log."""
    running = tmp_path / f"{APP}.inprogress"
    running.write_bytes(b"".join(LINES))
    with Server(tmp_path, "--update-interval", "1d") as server:
        assert APP in applications(server)
        running.rename(tmp_path / APP)
        assert jobs(server) > 0
        assert applications(server)[APP]["attempts"][0]["completed"]


def requests(server: Server) -> int:
    """That have no answer yet."""
    metrics = server.metrics()
    return int(sum(metrics[f'pyrometer_requests_{what}{{class="{kind}"}}'] for what in ("running", "waiting") for kind in ("light", "heavy")))


def loads(server: Server) -> float:
    return server.metrics()["pyrometer_loads_total"]


def open_pipe(path: Path, reader: threading.Thread) -> Optional[int]:
    """To write to, once the server reads; None: the server saw before that the log has become a pipe, which is none."""
    while reader.is_alive():
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            assert error.errno == errno.ENXIO
            time.sleep(0.005)
            continue
        os.set_blocking(pipe, True)
        return pipe
    return None


def test_a_slow_log_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    """The log becomes a pipe behind the server's back: reading it takes until this test has written it, once."""
    slow, pipe_path = tmp_path / APP, tmp_path / "pipe.tmp"
    (tmp_path / "other").write_bytes(copy_of("app-other"))
    answers: List[Optional[int]] = []

    def ask() -> None:
        status, _, body = server.get(f"applications/{APP}/jobs")
        answers.append(len(json.loads(body)) if status == 200 else None)  # a pipe is listed until the server looks

    with Server(tmp_path, "--update-interval", "1d") as server:
        expected, pipe = jobs(server, "app-other"), None
        while pipe is None:
            slow.unlink(missing_ok=True)
            slow.write_bytes(b"".join(LINES))
            wait_until(lambda: APP in applications(server), "it is listed")
            answers.clear()
            before = loads(server)
            threads = [threading.Thread(target=ask) for _ in range(40)]
            os.mkfifo(pipe_path)
            pipe_path.rename(slow)
            threads[0].start()
            pipe = open_pipe(slow, threads[0])
        with os.fdopen(pipe, "wb") as writer:
            for thread in threads[1:]:
                thread.start()
            wait_until(lambda: requests(server) + len(answers) > 40, "all have asked")  # this question is one more
            assert jobs(server, "app-other") == expected
            assert expected not in answers
            writer.write(b"".join(LINES))
        for thread in threads:
            thread.join()
        assert set(answers) <= {expected, None} and expected in answers and len(answers) == 40
        assert loads(server) == before + 1


def test_rolling_logs(tmp_path: Path) -> None:
    folder = tmp_path / f"eventlog_v2_{APP}"
    folder.mkdir()
    status = folder / f"appstatus_{APP}.inprogress"
    status.touch()
    third = len(LINES) // 3
    (folder / f"events_1_{APP}").write_bytes(b"".join(LINES[:third]))
    with Server(tmp_path, *SOON) as server:
        assert not applications(server)[APP]["attempts"][0]["completed"]
        (folder / f"events_2_{APP}").write_bytes(b"".join(LINES[third : 2 * third]))
        (folder / f"events_3_{APP}").write_bytes(b"".join(LINES[2 * third :]))
        status.rename(folder / f"appstatus_{APP}")
        wait_until(lambda: applications(server)[APP]["attempts"][0]["completed"], "the end is seen")
        (tmp_path / "whole").mkdir()
        (tmp_path / "whole" / APP).write_bytes(b"".join(LINES))
        with Server(tmp_path / "whole") as fresh:
            path = f"applications/{APP}/stages?details=true"
            assert fresh.get(path) == server.get(path)


def test_several_folders(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log").write_bytes(small(f"app-{name}"))
    with Server(tmp_path / "one", str(tmp_path / "two"), str(tmp_path / "two") + "/") as server:
        assert set(applications(server)) == {"app-one", "app-two"}


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    command = [str(conftest.binary_path()), "serve", str(tmp_path / "none"), "--port", "0", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert str(tmp_path / "none") in done.stderr


@pytest.mark.parametrize("value", ["", "0", "10x", "99ms", "2d", "-1s"])
def test_wrong_intervals(tmp_path: Path, value: str) -> None:
    command = [str(conftest.binary_path()), "serve", str(tmp_path), "--port", "0", "--update-interval", value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2 and "--update-interval" in done.stderr


def test_hostile_ids(tmp_path: Path) -> None:
    ids = ["../../etc/passwd", "a b%20c", "x" * 5000, "\u00e9\U0001f525", "</script><b>"]
    for number, app in enumerate(ids):
        (tmp_path / str(number)).write_bytes(small("placeholder").replace(b'"placeholder"', json.dumps(app).encode()))
    with Server(tmp_path) as server:
        assert set(applications(server)) == set(ids)
        assert server.get("applications/a%20b%2520c/jobs")[0] == 200
        assert server.get("applications/%C3%A9%F0%9F%94%A5/jobs")[0] == 200
        assert server.get("applications/" + "x" * 5000 + "/jobs")[0] == 200
        assert server.get("applications/../../etc/passwd/jobs")[0] == 404


# ---- Thousands of logs, and what is kept between starts ----


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    for number in range(MANY):
        (folder / f"log-{number}").write_bytes(small(f"app-{number:05}"))
    return folder


def change_unseen(path: Path, app: str, other: str) -> None:
    """Change bytes, but neither size nor time: only who reads the file again would notice."""
    before = path.stat()
    assert len(app) == len(other)
    with path.open("r+b") as log:
        data = log.read().replace(app.encode(), other.encode())
        log.seek(0)
        log.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_only_what_has_changed_is_read_at_the_next_start(many: Path, tmp_path: Path) -> None:
    cache = str(tmp_path / "new" / "cache")
    everything = {f"app-{number:05}" for number in range(MANY)}
    with Server(many, "--cache", cache) as server:
        assert set(applications(server)) == everything
        answers = server.get("applications")
    change_unseen(many / "log-7", "app-00007", "app-0000x")
    (many / "log-8").rename(many / "log-8-new")
    (many / "log-9").unlink()
    with Server(many, "--cache", cache) as server:
        assert set(applications(server)) == everything - {"app-00009"}
        assert server.get("applications/app-00008/jobs")[0] == 200
    (many / "log-9").write_bytes(small("app-00009"))
    change_unseen(many / "log-7", "app-0000x", "app-00007")
    (many / "log-8-new").rename(many / "log-8")
    with Server(many, "--cache", cache) as server:
        assert set(applications(server)) == everything
        assert len(server.get("applications")[2]) == len(answers[2])


@pytest.mark.slow
def test_a_damaged_cache_is_made_anew(many: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with Server(many, "--cache", str(cache)) as server:
        answers = server.get("applications")
    (file,) = cache.glob("*.sqlite")
    data = bytearray(file.read_bytes())
    for damage in (b"", b"no database", bytes(data[: len(data) // 2]), bytes(data).replace(b"app-01", b"app-99")):
        file.write_bytes(damage)
        for leftover in cache.glob("*-journal"):
            leftover.unlink()
        with Server(many, "--cache", str(cache)) as server:
            assert server.get("applications") == answers


@pytest.mark.slow
def test_servers_share_a_cache(many: Path, tmp_path: Path) -> None:
    cache = ("--cache", str(tmp_path / "cache"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "log").write_bytes(small("app-other"))
    with Server(many, *cache) as first, Server(many, *cache) as second, Server(tmp_path / "other", *cache) as third:
        assert first.get("applications") == second.get("applications")
        assert set(applications(third)) == {"app-other"}
    with Server(many, str(tmp_path / "other"), *cache) as both:
        assert len(applications(both)) == MANY + 1


def test_a_cache_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    command = [str(conftest.binary_path()), "serve", str(tmp_path), "--port", "0", "--cache", str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 4 and re.search(r"cannot keep anything in .*file", done.stderr)


def test_a_crowd_among_many(many: Path) -> None:
    """Clients that ask for different logs and for the same one, with so little memory that all are closed at once."""
    wrong: List[str] = []

    def ask(start: int, server: Server) -> None:
        for step in range(25):
            number = (start * 31 + step * 7) % MANY if step % 2 else 17
            status, _, body = server.get(f"applications/app-{number:05}/environment")
            if status != 200 or b"sparkProperties" not in body:
                wrong.append(f"app-{number:05}: {status}")

    with Server(many, "--memory", "64K", *SOON) as server:
        threads = [threading.Thread(target=ask, args=(start, server)) for start in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
