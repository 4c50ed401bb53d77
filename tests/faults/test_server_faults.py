"""One call of a server fails while it answers. The answer is the right one or a clear error, the next one is right, and
nothing is lost, doubled or left behind."""

from __future__ import annotations

import errno
import http.client
import json
import os
import shutil
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import pytest
from faults import Control, Fault, chosen, library

import conftest

sys.path.insert(0, str(conftest.ROOT / "tests"))

from servers.pyrometer import Server  # noqa: E402

LOGS = conftest.ROOT / "corpus" / "logs"
SENT = (LOGS / "idle_narrow.zst").read_bytes()
REFUSALS = (500, 503, 507)

pytestmark = pytest.mark.skipif(library() is None, reason="this build has no library that lets calls fail")


def until(holds: Callable[[], bool]) -> None:
    """What the server does soon by itself."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


class Reply(NamedTuple):
    status: int  # 0: the connection was closed without an answer
    headers: Dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Place:
    def __init__(self, root: Path) -> None:
        self.root, self.uploads, self.logs, self.store = root, root / "uploads", root / "logs", root / "runs.db"
        self.temporary = root / "tmp"
        self.control = Control(root)
        for folder in (self.logs, self.temporary):
            folder.mkdir()
        for name in ("skew_rdd.zst", "slow_store_write.zst"):
            shutil.copy(LOGS / name, self.logs / name)
        before = dict(os.environ)
        os.environ.update(self.control.environment(), TMPDIR=str(self.temporary))
        try:
            self.server = Server(
                self.logs, "--uploads", str(self.uploads), "--store", f"sqlite:{self.store}", "--cache", str(root / "cache"),
                "--memory", "1K", "--update-interval", "3600", "--config", "none",
            )  # fmt: skip
        finally:
            os.environ.clear()
            os.environ.update(before)
        self.apps = [app["id"] for app in self.ask("GET", "/pyrometer/v1/applications").json["applications"]]

    def ask(self, method: str, path: str, body: Optional[bytes] = None) -> Reply:
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
        headers = {"Content-Type": "application/json"} if path.endswith("feedback") else {}
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return Reply(response.status, dict(response.headers.items()), response.read())
        except (http.client.HTTPException, ConnectionError) as error:
            return Reply(0, {}, str(error).encode())
        finally:
            connection.close()

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

    def threads(self) -> int:
        return len(os.listdir(f"/proc/{self.server.process.pid}/task"))

    def try_all(self, act: Callable[[], Reply], check: Callable[[Reply], Optional[str]], most: int) -> None:
        """`check` says what is wrong with an answer and with the state afterwards."""
        act()
        self.control.clear()
        good = act()
        assert good.status in (200, 201), (good.status, good.body[:300])
        calls = self.control.calls()
        check(good)
        wrong: List[str] = []
        for fault in chosen(calls, most):
            self.control.arm(fault)
            got = act()
            self.control.disarm()
            assert self.server.process.poll() is None, f"{fault}: the server has ended"
            # SQLite takes a page that cannot be read for damage.
            damage = fault.kind == "read" and got.status == 422 and b"the store is damaged" in got.body
            if got.status not in (0, good.status, *REFUSALS) and not damage:
                wrong.append(f"{fault}: {got.status} {got.body[:300]!r}")
            if got.status == 503 and "Retry-After" not in got.headers:
                wrong.append(f"{fault}: 503 without Retry-After")
            if got.status != good.status and str(self.root).encode() in got.body:
                wrong.append(f"{fault}: a path of this machine: {got.body[:300]!r}")
            why = check(got)
            if why:
                wrong.append(f"{fault}: {got.status} {got.body[:200]!r}: {why}")
        assert not wrong, "\n".join(wrong)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    one = Place(tmp_path)
    yield one
    one.control.disarm()
    assert one.server.stop() == 0
    assert list(one.temporary.iterdir()) == []


def without_notes(body: bytes) -> Any:
    report = json.loads(body)
    report["integrity"]["notes"] = [note for note in report["integrity"]["notes"] if "feedback on earlier" not in note]
    return report


def test_a_report(place: Place) -> None:
    first, second = (f"/pyrometer/v1/applications/{app}/-/report" for app in place.apps)
    right = without_notes(place.ask("GET", first).body)

    def act() -> Reply:
        place.ask("GET", second)  # so that the first is no longer open
        return place.ask("GET", first)

    def check(got: Reply) -> Optional[str]:
        if got.status == 200 and without_notes(got.body) != right:
            return "another report"
        if got.status == 200 and b"feedback on earlier" in got.body and ("ETag" in got.headers or "no-store" not in got.headers["Cache-Control"]):
            return "half of an answer may be kept"
        again = place.ask("GET", first)
        return None if again.status == 200 and json.loads(again.body) == right else f"then {again.status} {again.body[:300]!r}"

    place.try_all(act, check, 25)


@pytest.mark.parametrize("what", ["stages?details=true", "sql", "environment"])
def test_a_history(place: Place, what: str) -> None:
    first, second = (f"/api/v1/applications/{app}/{what}" for app in place.apps)
    right = place.ask("GET", first).body

    def act() -> Reply:
        place.ask("GET", second)
        return place.ask("GET", first)

    def check(got: Reply) -> Optional[str]:
        if got.status == 200 and got.body != right:
            return "another answer"
        again = place.ask("GET", first)
        return None if (again.status, again.body) == (200, right) else f"then {again.status} {again.body[:300]!r}"

    place.try_all(act, check, 12)


def test_uploads(place: Place) -> None:
    descriptors = None

    def listed(apps: Reply) -> List[Tuple[str, str]]:
        return [
            (app["id"], one["attempt"] or "-") for app in apps.json["applications"] for one in app["attempts"] if one["uploaded"]
        ]

    def act() -> Reply:
        apps = place.ask("GET", "/pyrometer/v1/applications")  # the fault may meet any of the three
        for app, attempt in listed(apps) if apps.status == 200 else []:
            deleted = place.ask("DELETE", f"/pyrometer/v1/uploads/{app}/{attempt}")
            if deleted.status != 204:
                return deleted
        return place.ask("POST", "/pyrometer/v1/uploads?name=sent.zst", SENT) if apps.status == 200 else apps

    def check(got: Reply) -> Optional[str]:
        end = time.monotonic() + 10  # bodies go away just after their answers
        apps = listed(place.ask("GET", "/pyrometer/v1/applications"))
        expected = ["sent.zst"] if apps else []
        there: List[str] = []
        while time.monotonic() < end:
            there = sorted(path.name for path in place.uploads.iterdir())
            if there == expected:
                break
            time.sleep(0.02)
        if there != expected:
            return f"the folder holds {there}, {apps} are listed"
        if expected and (place.uploads / "sent.zst").read_bytes() != SENT:
            return "something else was kept"
        if got.status == 201 and len(apps) != 1:
            return f"{apps} are listed"
        return None

    place.try_all(act, check, 25)
    act()
    descriptors = place.descriptors()
    for number in range(5):
        place.control.arm(Fault("allocate", errno.ENOMEM, 10 * number))
        act()
        place.control.disarm()
        act()
    assert place.descriptors() <= descriptors + 2  # connections that the client has closed may still be open here


def test_feedback(place: Place) -> None:
    app = place.apps[0]
    report = place.ask("GET", f"/pyrometer/v1/applications/{app}/-/report").json
    said = json.dumps({"finding": report["findings"][0]["id"], "verdict": "confirmed", "comment": "x"}).encode()
    count = 0

    def act() -> Reply:
        return place.ask("POST", f"/pyrometer/v1/applications/{app}/-/feedback", said)

    def check(got: Reply) -> Optional[str]:
        nonlocal count
        with sqlite3.connect(place.store) as db:
            kept = db.execute("SELECT count(*) FROM verdict").fetchone()[0]
            runs = db.execute("SELECT count(*) FROM runs").fetchone()[0]
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        before, count = count, kept
        if runs != 1:
            return f"{runs} runs"
        if before and got.status and kept - before != (got.status == 201):
            return f"{kept - before} verdicts more"
        return None

    place.try_all(act, check, 25)


def test_what_could_not_be_opened_for_a_moment(place: Place) -> None:
    """No descriptors are left for a while: nothing is kept of that, and all that was listed stays."""
    first, second = (f"applications/{app}" for app in place.apps)
    listed = place.ask("GET", "/pyrometer/v1/applications").body
    for path in (f"/pyrometer/v1/{first}/-/report", f"/api/v1/{first}/jobs"):
        right = place.ask("GET", path)
        place.ask("GET", path.replace(first, second))
        place.control.arm(Fault("open", errno.EMFILE, 0), times=1 << 20)
        got = place.ask("GET", path)
        assert (got.status, got.headers["Retry-After"]) == (503, "2"), got
        assert str(place.root).encode() not in got.body and got.headers["Cache-Control"] == "no-store"
        sent = place.ask("POST", "/pyrometer/v1/uploads?name=sent.zst", SENT)
        assert sent.status in REFUSALS, sent
        place.control.disarm()
        again = place.ask("GET", path)
        assert (again.status, again.body) == (200, right.body)
    until(lambda: place.ask("GET", "/pyrometer/v1/applications").body == listed)
    place.control.arm(Fault("stat", errno.EIO, 0), times=1 << 20)
    place.ask("POST", "/pyrometer/v1/uploads?name=sent.zst", SENT)  # which looks at the folders
    during = place.ask("GET", "/pyrometer/v1/applications").json["applications"]
    place.control.disarm()
    assert [app["id"] for app in during] == place.apps
    until(lambda: place.ask("GET", "/pyrometer/v1/applications").body == listed)


def test_a_store_that_is_locked(place: Place) -> None:
    """The diagnosis comes without the feedback and says so; it is not cached, and later it is complete."""
    path = f"/pyrometer/v1/applications/{place.apps[0]}/-/report"
    report = place.ask("GET", path).json
    said = json.dumps({"finding": report["findings"][0]["id"], "verdict": "false-positive", "comment": "x"}).encode()
    assert place.ask("POST", path.replace("report", "feedback"), said).status == 201
    folded = place.ask("GET", path)
    assert folded.json["findings"] != report["findings"] and "ETag" in folded.headers
    place.ask("GET", path.replace(place.apps[0], place.apps[1]))
    with sqlite3.connect(place.store, isolation_level=None) as db:
        db.execute("BEGIN EXCLUSIVE")
        for _ in range(2):
            got = place.ask("GET", path)
            assert got.status == 200 and got.json["findings"] == report["findings"]
            assert got.json["integrity"]["notes"] == ["cannot read the store: the report leaves out feedback on earlier findings"]
            assert "ETag" not in got.headers and got.headers["Cache-Control"] == "no-store"
        db.execute("ROLLBACK")
    again = place.ask("GET", path)
    assert (again.status, again.body) == (200, folded.body)
