"""A store with as many runs of one application as a test wants, made of one that was recorded."""

from __future__ import annotations

import math
import sqlite3
import time
from pathlib import Path
from typing import Any, Dict, NamedTuple, Optional

from cli_command import ROOT, Command

LOG = ROOT / "corpus" / "logs" / "healthy_etl.zst"
DAY_MS = 24 * 3600 * 1000
BLOCK = 128 * 1024 * 1024


class Made(NamedTuple):
    """One run; the application's model is a wave model unless a test says otherwise."""

    executors: int
    cores: int
    blocks: int = 20
    duration_ms: Optional[int] = None
    status: str = "completed"
    settings: Dict[str, str] = {}  # noqa: RUF012
    path: Optional[str] = None
    replaced: int = 0  # executors that had left before others came

    @property
    def wave_ms(self) -> int:
        return 10000 + 60000 * math.ceil(self.blocks / (self.executors * self.cores))


def record(pyrometer: Command, store: Path) -> None:
    """Make the store by recording one real run, which is then taken out again with all that goes with it."""
    assert pyrometer("diagnose", LOG, "-s", f"sqlite:{store}").returncode == 0


class Runs:
    """Adds runs to a store, one a day, the first `days` days ago."""

    def __init__(self, store: Path, application: str = "nightly", days: int = 60) -> None:
        self.db = sqlite3.connect(store)
        self.application = application
        self.start_ms = int(time.time() * 1000) - days * DAY_MS
        self.count = 0

    def name_id(self, table: str, name: str) -> int:
        self.db.execute(f"INSERT OR IGNORE INTO {table} (name) VALUES (?)", (name,))
        return int(self.db.execute(f"SELECT id FROM {table} WHERE name = ?", (name,)).fetchone()[0])

    def add(self, run: Made) -> str:
        """Add one run; gives its id."""
        app_id = f"application_{self.application}_{self.count:04d}"
        start = self.start_ms + self.count * DAY_MS
        duration = run.duration_ms if run.duration_ms is not None else run.wave_ms
        row: Dict[str, Any] = {
            "app_id": app_id,
            "attempt": "",
            "name": self.application,
            "application": self.application,
            "version": "1",
            "spark_version": "3.5.6",
            "status": run.status,
            "start_ms": start,
            "end_ms": start + duration,
            "duration_ms": duration,
            "core_ms": duration * run.executors * run.cores,
            "recorded_ms": start,
            "input_bytes": run.blocks * BLOCK,
            "path": run.path,
        }
        key = self.db.execute(
            f"INSERT INTO run ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())
        ).lastrowid
        numbers = {
            "executors.elements_count": run.executors + run.replaced,
            "cores_peak": run.executors * run.cores,
            "executors.totalCores.max": run.cores,
            "stages.inputBytes.max": run.blocks * BLOCK,
        }
        settings = {"spark.executor.instances": str(run.executors), "spark.executor.cores": str(run.cores), **run.settings}
        for name, value in numbers.items():
            self.db.execute("INSERT INTO aggregate VALUES (?, ?, ?)", (self.name_id("aggregate_name", name), key, value))
        for name, text in settings.items():
            self.db.execute("INSERT INTO property VALUES (?, ?, ?)", (self.name_id("property_name", name), key, text))
        self.db.commit()
        self.count += 1
        return app_id

    def add_finding(self, app_id: str, rule: str, cause: str) -> None:
        key = self.db.execute("SELECT key FROM run WHERE app_id = ?", (app_id,)).fetchone()[0]
        self.db.execute(
            "INSERT INTO run_finding (run, position, id, rule, category, severity, cause, folded)"
            " VALUES (?, 0, ?, ?, 'memory', 'critical', ?, 0)",
            (key, rule, rule, cause),
        )
        self.db.commit()
