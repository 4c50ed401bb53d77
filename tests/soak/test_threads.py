"""What runs on several threads at once, in little time: for the thread sanitizer (./dev test). Whatever it finds ends the
command with a status of its own, which every check here sees."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import List

import conftest

sys.path.insert(0, str(conftest.ROOT / "tests"))

from servers.pyrometer import Server  # noqa: E402

LOGS = conftest.ROOT / "corpus" / "logs"
NAMES = ("idle_narrow", "skew_rdd", "slow_store_write", "data_skew", "healthy_sql")
ASKED = (
    "api/v1/applications", "api/v1/applications/{}/stages", "api/v1/applications/{}/sql", "pyrometer/v1/applications",
    "pyrometer/v1/applications/{}/-/report", "pyrometer/v1/applications/{}/-/timeline", "metrics",
)  # fmt: skip


def test_loading_by_threads(tmp_path: Path) -> None:
    outputs = []
    for threads in ("1", "4"):
        done = subprocess.run(
            [str(conftest.binary_path()), "diagnose", "-f", "json", "--threads", threads, *[str(LOGS / f"{name}.zst") for name in NAMES]],
            capture_output=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr.decode()[:3000]
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]


def test_a_busy_server(tmp_path: Path) -> None:
    logs, problems = tmp_path / "logs", []  # type: Path, List[str]
    logs.mkdir()
    for name in NAMES:
        shutil.copy(LOGS / f"{name}.zst", logs)
    with Server(
        logs, "--uploads", str(tmp_path / "uploads"), "--store", f"sqlite:{tmp_path / 'runs.db'}", "--cache",
        str(tmp_path / "cache"), "--memory", "2M", "--update-interval", "1", "--config", "none",
    ) as server:  # fmt: skip

        def ask(method: str, path: str, body: bytes = b"") -> bytes:
            connection = http.client.HTTPConnection(server.host, server.port, timeout=120)
            try:
                connection.request(method, f"/{path}", body=body, headers={"Content-Type": "application/json"})
                response = connection.getresponse()
                answer = response.read()
                if response.status not in (200, 201, 204, 503):
                    problems.append(f"{method} {path}: {response.status} {answer[:200]!r}")
                return answer
            except (OSError, http.client.HTTPException) as error:
                problems.append(f"{method} {path}: {error!r}")
                return b"{}"
            finally:
                connection.close()

        apps = [app["id"] for app in json.loads(ask("GET", "pyrometer/v1/applications"))["applications"]]

        def read(first: int) -> None:
            for i in range(20):
                ask("GET", ASKED[(first + i) % len(ASKED)].format(apps[(first * 3 + i) % len(apps)]))

        def change() -> None:
            text = (LOGS / "straggler.zst").read_bytes()
            for _ in range(3):
                sent = json.loads(ask("POST", "pyrometer/v1/uploads?name=sent.zst", text))
                for one in sent.get("applications", []):
                    ask("DELETE", f"pyrometer/v1/uploads/{one['id']}/-")
                report = json.loads(ask("GET", f"pyrometer/v1/applications/{apps[0]}/-/report"))
                said = {"finding": report["findings"][0]["id"], "verdict": "confirmed", "comment": "x"}
                ask("POST", f"pyrometer/v1/applications/{apps[0]}/-/feedback", json.dumps(said).encode())

        threads = [threading.Thread(target=read, args=(i,)) for i in range(4)] + [threading.Thread(target=change)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not problems, "\n".join(problems[:20])
