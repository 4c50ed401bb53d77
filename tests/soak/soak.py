"""Keeps a server busy for long and looks at what it holds: memory, descriptors, threads and temporary files stay flat.

    python tests/soak/soak.py [--minutes 20] [--applications 300] [--clients 4] [--seed N] [--figures FILE]

300 applications are asked for at random with --memory 64M, while logs are uploaded and deleted, others grow, and
another process locks the store that verdicts go to. Answers that must not change are compared. PYROMETER_BINARY names
the command.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import http.client
import json
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable, Counter, Dict, List, NamedTuple, Optional, Tuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from servers.pyrometer import Server  # noqa: E402

import conftest  # noqa: E402

SOURCES = ("idle_narrow", "skew_rdd", "slow_store_write", "data_skew", "healthy_sql", "straggler")
ASKED = (
    "api/v1/applications/{}/jobs", "api/v1/applications/{}/stages", "api/v1/applications/{}/executors",
    "api/v1/applications/{}/sql", "api/v1/applications/{}/environment",
    "pyrometer/v1/applications/{}/-/timeline", "pyrometer/v1/applications/{}/-/environment",
    "pyrometer/v1/applications/{}/-/executors",
)  # fmt: skip
ALLOWED = {200, 201, 204, 503}
PREFIX = "app-soak-"


def plain(name: str) -> bytes:
    import cramjam

    return bytes(cramjam.zstd.decompress((ROOT / "corpus" / "logs" / f"{name}.zst").read_bytes()))


def renamed(text: bytes, app: str) -> bytes:
    """The same run under another id."""
    start = next(line for line in text.splitlines() if b'"SparkListenerApplicationStart"' in line)
    return text.replace(json.loads(start)["App ID"].encode(), app.encode())


class Sample(NamedTuple):
    seconds: float
    memory_mb: float
    descriptors: int
    threads: int
    files: int  # temporary ones


class Soak:
    def __init__(self, root: Path, arguments: argparse.Namespace) -> None:
        self.random = random.Random(arguments.seed)
        self.logs, self.uploads, self.temporary, self.store = root / "logs", root / "uploads", root / "tmp", root / "runs.db"
        for folder in (self.logs, self.temporary):
            folder.mkdir()
        self.texts = {name: plain(name) for name in SOURCES}
        self.apps = [f"{PREFIX}{i:04d}" for i in range(arguments.applications)]
        for i, app in enumerate(self.apps):
            self.write(app, self.texts[SOURCES[i % len(SOURCES)]])
        self.root, self.lock, self.stop = root, threading.Lock(), threading.Event()
        self.counts: Counter[Tuple[str, int]] = collections.Counter()
        self.wrong: List[str] = []
        self.hashes: Dict[str, str] = {}
        self.samples: List[Sample] = []
        os.environ["TMPDIR"] = str(self.temporary)
        self.server = Server(
            self.logs, "--uploads", str(self.uploads), "--store", f"sqlite:{self.store}", "--cache", str(root / "cache"),
            "--memory", "64M", "--update-interval", "2", "--config", "none",
        )  # fmt: skip
        self.started = time.monotonic()

    def write(self, app: str, text: bytes) -> None:
        import cramjam

        data = bytes(cramjam.zstd.compress(renamed(text, app), 1))
        (self.logs / f"{app}.zst").write_bytes(data)

    # ---- Asking ----

    def ask(self, what: str, method: str, path: str, body: Optional[bytes] = None, allowed: Any = ALLOWED) -> Tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=120)
        headers = {"Content-Type": "application/json"} if path.endswith("feedback") else {}
        try:
            connection.request(method, f"/{path}", body=body, headers=headers)
            response = connection.getresponse()
            status, answer = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            status, answer = 0, repr(error).encode()
        finally:
            connection.close()
        with self.lock:
            self.counts[what, status] += 1
            if status not in allowed and len(self.wrong) < 20:
                self.wrong.append(f"{method} {path}: {status} {answer[:200]!r}")
        return status, answer

    def read(self, chance: random.Random) -> None:
        path = chance.choice(ASKED).format(chance.choice(self.apps))
        status, answer = self.ask("read", "GET", path)
        if status != 200:
            return
        found = hashlib.sha256(answer).hexdigest()
        with self.lock:
            if self.hashes.setdefault(path, found) != found:
                self.wrong.append(f"{path}: another answer than before")

    def judge(self, chance: random.Random) -> None:
        app = chance.choice(self.apps)
        status, answer = self.ask("report", "GET", f"pyrometer/v1/applications/{app}/-/report")
        findings = json.loads(answer)["findings"] if status == 200 else []
        if findings and chance.random() < 0.3:
            said = {"finding": chance.choice(findings)["id"], "verdict": "confirmed", "comment": "soak"}
            self.ask("feedback", "POST", f"pyrometer/v1/applications/{app}/-/feedback", json.dumps(said).encode())

    def look(self, chance: random.Random) -> None:
        self.ask("list", "GET", chance.choice(("api/v1/applications", "pyrometer/v1/applications", "metrics", "api/v1/version")))

    # ---- What goes on beside ----

    def client(self, number: int) -> None:
        chance = random.Random(f"{number} {self.random.random()}")
        while not self.stop.is_set():
            what = chance.choices((self.read, self.judge, self.look), (8, 2, 1))[0]
            what(chance)

    def sender(self) -> None:
        chance, number = random.Random("sender"), 0
        while not self.stop.is_set():
            app, number = f"{PREFIX}sent-{number % 7}", number + 1
            text = renamed(self.texts[chance.choice(SOURCES[:3])], app)
            if chance.random() < 0.2:
                text = os.urandom(chance.randrange(1, 200000))  # no log
                self.ask("bad upload", "POST", "pyrometer/v1/uploads?name=bad", text, {422, 503})
                continue
            status, _ = self.ask("upload", "POST", f"pyrometer/v1/uploads?name={app}", text)
            if status == 201:
                self.ask("sent", "GET", f"pyrometer/v1/applications/{app}/-/report")
                self.ask("delete", "DELETE", f"pyrometer/v1/uploads/{app}/-", allowed={204, 404, 503})
            self.stop.wait(0.2)

    def grower(self) -> None:
        lines = self.texts["data_skew"].splitlines(keepends=True)
        number = 0
        while not self.stop.is_set():
            app, number = f"{PREFIX}grows-{number % 3}", number + 1
            own = [renamed(b"".join(lines), app)][0].splitlines(keepends=True)
            path = self.logs / f"{app}.inprogress"
            with path.open("wb") as file:
                for at in range(0, len(own), max(1, len(own) // 8)):
                    file.writelines(own[at : at + max(1, len(own) // 8)])
                    file.flush()
                    for kind in ("api/v1/applications/{}/stages", "pyrometer/v1/applications/{}/-/report"):
                        self.ask("growing", "GET", kind.format(app), allowed={200, 404, 422, 503})  # not found yet, or empty
                    if self.stop.wait(0.3):
                        break
            path.unlink()

    def locker(self) -> None:
        chance = random.Random("locker")
        while not self.stop.wait(chance.uniform(1, 8)):
            try:
                with sqlite3.connect(self.store, isolation_level=None, timeout=1) as db:
                    db.execute(chance.choice(("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE")))
                    self.stop.wait(chance.uniform(0.1, 4))
                    db.execute("ROLLBACK")
            except sqlite3.OperationalError:
                pass

    # ---- Looking ----

    def sample(self) -> Sample:
        process = Path(f"/proc/{self.server.process.pid}")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        return Sample(
            time.monotonic() - self.started,
            int(status["VmRSS"].split()[0]) / 1024,
            len(os.listdir(process / "fd")),
            int(status["Threads"]),
            sum(1 for _ in self.temporary.rglob("*")),
        )

    def run(self, seconds: float, clients: int) -> None:
        jobs: List[Callable[[], None]] = [lambda i=i: self.client(i) for i in range(clients)]  # type: ignore[misc]
        threads = [threading.Thread(target=job) for job in [*jobs, self.sender, self.grower, self.locker]]
        for thread in threads:
            thread.start()
        end = self.started + seconds
        while time.monotonic() < end and self.server.process.poll() is None:
            self.samples.append(self.sample())
            time.sleep(min(5.0, max(0.5, seconds / 100)))
        self.stop.set()
        for thread in threads:
            thread.join()


def parts(samples: List[Sample]) -> Tuple[List[Sample], List[Sample]]:
    """The second and the last quarter: the first is the start."""
    quarter = max(1, len(samples) // 4)
    return samples[quarter : 2 * quarter], samples[-quarter:]


def check(soak: Soak) -> Tuple[List[str], Dict[str, Any]]:
    wrong = list(soak.wrong)
    before, after = parts(soak.samples)
    figures: Dict[str, Any] = {"seconds": round(soak.samples[-1].seconds)}
    # In addition to what is kept, what is under way at the moment of a look differs.
    for name, room in (("memory_mb", 32.0), ("descriptors", 24), ("threads", 24), ("files", 8)):
        first, last = (sorted(getattr(one, name) for one in part)[len(part) // 2] for part in (before, after))
        figures[name] = {"second quarter": round(first, 1), "last quarter": round(last, 1), "most": round(max(getattr(s, name) for s in soak.samples), 1)}
        if last > 1.1 * first + room:
            wrong.append(f"{name} grow: {first:.1f} in the second quarter, {last:.1f} in the last one")
    figures["requests"] = {f"{what} {status}": count for (what, status), count in sorted(soak.counts.items())}
    figures["answers"] = sum(soak.counts.values())
    return wrong, figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("SOAK_MINUTES", "20")))
    parser.add_argument("--applications", type=int, default=300)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--figures", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        soak = Soak(Path(folder), arguments)
        try:
            soak.run(60 * arguments.minutes, arguments.clients)
            wrong, figures = check(soak)
            if soak.server.process.poll() is not None:
                wrong.append(f"the server has ended: {soak.server.process.communicate()[1][:2000]}")
        finally:
            status = soak.server.stop()
        if status != 0:
            wrong.append(f"the server ends with {status}")
        left = [path.name for path in soak.temporary.iterdir()] + [path.name for path in soak.uploads.glob(".*")]
        if left:
            wrong.append(f"left behind: {left[:10]}")
        with sqlite3.connect(soak.store) as db:
            if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                wrong.append("the store is damaged")
    text = json.dumps(figures, indent=1)
    print(text)
    if arguments.figures:
        arguments.figures.write_text(text + "\n")
    for one in wrong:
        print(f"soak: {one}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
