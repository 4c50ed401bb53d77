"""A real Airflow that runs each DAG of a folder once: its scheduler, in version 3 with the server that its tasks ask.

In a network of its own only (servers.isolated): parts of it listen on fixed ports.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Mapping, Optional

import conftest

from servers import Unavailable, collector
from servers.process import ServerProcesses

sys.path.insert(0, str(conftest.ROOT / "tests" / "record"))

import airflow_venvs  # noqa: E402

VERSIONS = tuple(airflow_venvs.PACKAGES)
LIMIT_S = 120
SECRET = "not-a-secret-but-of-the-length-that-one-must-have"


def installed(version: str) -> Path:
    found = airflow_venvs.installed(conftest.cache_folder().absolute(), version)
    if found is None:
        raise Unavailable(f"Airflow {version} is not installed: ./dev servers does it")
    return found


class Airflow(ServerProcesses):
    def __init__(self, version: str, folder: Path, dags: Path, otlp_http: int, environment: Mapping[str, str]) -> None:
        super().__init__()
        place = installed(version)
        self.program = str(place / "venv" / "bin" / "airflow")
        self.folder = folder
        self.database = folder / airflow_venvs.DATABASE
        folder.mkdir()
        shutil.copy(place / airflow_venvs.DATABASE, self.database)
        port = collector.free_port()
        self.environment = {
            **airflow_venvs.environment(folder),
            "PATH": f"{place / 'venv' / 'bin'}:{os.environ['PATH']}",
            "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
            "AIRFLOW__TRACES__OTEL_ON": "True", "AIRFLOW__TRACES__OTEL_HOST": "127.0.0.1",
            "AIRFLOW__TRACES__OTEL_PORT": str(otlp_http), "AIRFLOW__TRACES__OTEL_SERVICE": "airflow",
            "OTEL_TRACES_EXPORTER": "otlp_proto_http", "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{otlp_http}",
            "OTEL_SERVICE_NAME": "airflow", "OTEL_BSP_SCHEDULE_DELAY": "200",
            "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1", "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
            **environment,
        }
        if version.startswith("2."):
            self.environment["AIRFLOW__CORE__EXECUTOR"] = "SequentialExecutor"
        else:
            self.environment.update({
                "AIRFLOW__CORE__EXECUTOR": "LocalExecutor", "AIRFLOW__CORE__PARALLELISM": "1",
                "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
                "AIRFLOW__API_AUTH__JWT_SECRET": SECRET, "AIRFLOW__API__SECRET_KEY": SECRET,
                "AIRFLOW__API__HOST": "127.0.0.1", "AIRFLOW__API__PORT": str(port), "AIRFLOW__API__WORKERS": "1",
                "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
                "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
            })
            # Instead of a third process that reads the folder.
            quiet = {**self.environment, "AIRFLOW__TRACES__OTEL_ON": "False"}
            subprocess.run([self.program, "dags", "reserialize"], check=True, env=quiet, capture_output=True, timeout=LIMIT_S)
        try:
            if not version.startswith("2."):
                self.launch("api-server", "--apps", "execution")
            self.launch("scheduler", "--skip-serve-logs")
        except BaseException:
            self.stop()
            raise

    def launch(self, *words: str) -> None:
        self.start([self.program, *words], self.folder / f"{words[0]}.out", cwd=self.folder, env=self.environment)

    def state(self) -> Optional[str]:
        """Of the one run that has begun: success, failed, running; None: it has not begun."""
        try:
            with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as database:
                row = database.execute("SELECT state FROM dag_run").fetchone()
        except sqlite3.OperationalError:  # it is being written
            return None
        return str(row[0]) if row else None

    def wait(self, limit_s: float = LIMIT_S) -> str:
        """The state in which the run ended."""
        return self.servers[-1].wait_for(
            lambda: self.state() if self.state() in ("success", "failed") else None, "the DAG's run did not end", limit_s)

    def logs(self) -> str:
        """What the tasks printed."""
        return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in self.folder.rglob("attempt=*.log"))
