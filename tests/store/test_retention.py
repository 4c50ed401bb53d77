"""What a store forgets, and what it says of its size."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import schemas  # noqa: E402
from cli_command import Command  # noqa: E402

DAY_MS = 86_400_000
NAMES = ("idle_narrow", "skew_rdd", "slow_store_write", "data_skew", "straggler")
# Views with rows of runs.
OF_RUNS = ["runs", "reports", "raw", "aggregates", "properties", "findings", "allocations", "usage", "advice"]
TABLES_OF_RUNS = ["run_report", "run_raw", "run_finding", "aggregate", "property", "run_tag", "run_allocation", "run_usage", "run_advice", "run_access", "run_redaction"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five runs, one of them a baseline: 400, 300, 200, 100 and 10 days old; the two oldest started on one day."""
    command = Command(tmp_path_factory.mktemp("retention"))
    store = command.folder / "runs.db"
    for name in NAMES:
        options = ["--name", "good"] if name == "skew_rdd" else []
        done = command("diagnose", ROOT / "corpus" / "logs" / f"{name}.zst", "-f", "json", "--store", f"sqlite:{store}", *options)
        assert done.returncode == 0, done.stderr
    today = int(time.time() * 1000) // DAY_MS * DAY_MS
    with sqlite3.connect(store) as db:
        for name, days in zip(NAMES, (400, 300, 400, 100, 10)):
            start = today - days * DAY_MS + 3_600_000
            db.execute("UPDATE run SET end_ms = ? + end_ms - start_ms, start_ms = ?, application = 'etl' WHERE name = ?", (start, start, name))
        for days in (400, 100):
            db.execute("INSERT INTO error (time_ms, app_id, step, type, message, raw) VALUES (?, 'x', 'read', 't', 'm', 'text')", (today - days * DAY_MS,))
            db.execute("INSERT INTO cluster VALUES ('rm', ?, 'cores', 1)", (today - days * DAY_MS,))
    return store


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def store(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(recorded, tmp_path / "runs.db"))


def rows(store: Path, statement: str) -> List[Tuple[Any, ...]]:
    with sqlite3.connect(store) as db:
        return db.execute(statement).fetchall()


def run(command: Command, verb: str, store: Path, *options: object) -> Dict[str, Any]:
    done = command("store", verb, f"sqlite:{store}", *options)
    assert done.returncode == 0, done.stderr
    return schemas.validate(json.loads(done.stdout))


def counts(store: Path) -> Dict[str, int]:
    return {view: rows(store, f"SELECT count(*) FROM {view}")[0][0] for view in OF_RUNS}


def names(store: Path, view: str) -> List[str]:
    return [name for (name,) in rows(store, f"SELECT name FROM runs JOIN (SELECT DISTINCT app_id FROM {view}) USING (app_id) ORDER BY name")]


def check_whole(store: Path) -> None:
    """Nothing is left of removed runs."""
    assert rows(store, "PRAGMA integrity_check") == [("ok",)] and rows(store, "PRAGMA foreign_key_check") == []
    for table in TABLES_OF_RUNS:
        assert rows(store, f"SELECT count(*) FROM {table} WHERE run NOT IN (SELECT key FROM run)") == [(0,)]


def test_reports_go_first(command: Command, store: Path) -> None:
    before = counts(store)
    done = run(command, "prune", store, "--keep", "90d")
    assert done["reports"]["runs"] == 3 and done["aggregates"] == {"before_ms": None, "runs": 0}
    assert names(store, "reports") == names(store, "raw") == ["skew_rdd", "straggler"]
    after = counts(store)
    assert {view for view in OF_RUNS if after[view] != before[view]} == {"reports", "raw"}
    assert rows(store, "SELECT raw FROM errors ORDER BY time_ms") == [(None,), (None,)]
    assert done["bytes_after"] < done["bytes_before"] and store.stat().st_size <= done["bytes_after"]
    check_whole(store)
    again = run(command, "prune", store, "--keep", "90d")
    assert again["reports"]["runs"] == 0 and again["bytes_before"] == again["bytes_after"]


def test_days_remain_of_older_runs(command: Command, store: Path) -> None:
    expected = rows(
        store,
        "SELECT application, min(start_ms) / 86400000 * 86400000, count(*), count(*), sum(duration_ms), sum(core_ms), sum(input_bytes)"
        " FROM runs WHERE name IN ('idle_narrow', 'slow_store_write', 'data_skew') GROUP BY start_ms / 86400000 ORDER BY 2",
    )
    first = run(command, "prune", store, "--keep-aggregates", "390d")
    assert first["aggregates"]["runs"] == 2 and first["errors"] == first["cluster"] == 1
    assert rows(store, "SELECT * FROM days") == expected[:1] and expected[0][2] == 2
    second = run(command, "prune", store, "--keep-aggregates", "50d")
    assert second["aggregates"]["runs"] == 1 and second["errors"] == 1
    assert rows(store, "SELECT * FROM days ORDER BY time_ms") == expected
    assert names(store, "runs") == names(store, "aggregates") == names(store, "reports") == ["skew_rdd", "straggler"]
    assert rows(store, "SELECT name FROM baselines") == [("good",)]
    check_whole(store)


def test_a_run_that_returns_is_added_to_its_day(command: Command, store: Path) -> None:
    run(command, "prune", store, "--keep-aggregates", "390d")
    with sqlite3.connect(store) as db:
        db.execute("UPDATE run SET start_ms = (SELECT time_ms + 5 FROM run_day), core_ms = 7 WHERE name = 'data_skew'")
    (core_ms,) = rows(store, "SELECT core_ms FROM days")[0]
    run(command, "prune", store, "--keep-aggregates", "390d")
    assert rows(store, "SELECT runs, core_ms FROM days") == [(3, core_ms + 7)]
    answer = run(command, "query", store, json.dumps({"from": "days", "fields": ["runs", "core_ms"]}))
    assert answer["rows"] == [[3, core_ms + 7]]


def test_a_dry_run_changes_nothing(command: Command, store: Path) -> None:
    digest = hashlib.sha256(store.read_bytes()).hexdigest()
    options = ["--keep", "90d", "--keep-aggregates", "390d"]
    dry = run(command, "prune", store, *options, "--dry-run")
    assert dry["dry_run"] and hashlib.sha256(store.read_bytes()).hexdigest() == digest
    real = run(command, "prune", store, *options)
    for key in ("reports", "aggregates"):
        assert dry[key]["runs"] == real[key]["runs"] > 0
    assert (dry["errors"], dry["cluster"], dry["bytes_before"]) == (real["errors"], real["cluster"], real["bytes_before"])
    assert real["bytes_after"] < dry["bytes_before"] and dry["bytes_after"] < dry["bytes_before"]


def test_the_oldest_go_until_the_store_fits(command: Command, store: Path) -> None:
    size = run(command, "stat", store)["bytes"]
    kept = {one["name"]: one["bytes"] for one in run(command, "stat", store)["tables"]}
    reports = kept["reports"] + kept["raw"]
    first = run(command, "prune", store, "--max-size", f"{(size - reports // 3) // 1024}K")
    assert 1 <= first["reports"]["runs"] <= 3 and first["aggregates"]["runs"] == 0
    assert store.stat().st_size <= size - reports // 3
    assert "straggler" in names(store, "reports") and "idle_narrow" not in names(store, "reports")
    second = run(command, "prune", store, "--max-size", f"{(size - reports) // 1024 - 60}K")
    assert second["aggregates"]["runs"] >= 1 and names(store, "reports") == ["skew_rdd"]
    assert "idle_narrow" not in names(store, "runs")
    third = run(command, "prune", store, "--max-size", "1K")  # which no store fits into: what may stay does
    assert names(store, "runs") == ["skew_rdd"] and third["bytes_after"] > 1024
    assert rows(store, "SELECT sum(runs) FROM days") == [(4,)]
    check_whole(store)


def test_a_store_that_version_1_made_shrinks_too(command: Command, tmp_path: Path) -> None:
    store = tmp_path / "old.db"
    store.write_bytes(gzip.decompress((ROOT / "tests" / "cli" / "stores" / "version-1.db.gz").read_bytes()))
    with sqlite3.connect(store) as db:
        db.execute("DELETE FROM baseline")
    assert rows(store, "PRAGMA auto_vacuum") == [(0,)]
    done = run(command, "prune", store, "--max-size", "1K")
    assert done["aggregates"]["runs"] == 2
    assert rows(store, "PRAGMA auto_vacuum") == [(2,)] and rows(store, "PRAGMA freelist_count") == [(0,)]
    check_whole(store)


def test_the_size_is_that_of_the_file(command: Command, store: Path) -> None:
    found = run(command, "stat", store)
    assert found["bytes"] == store.stat().st_size and found["runs"] == len(NAMES)
    assert (found["first_ms"], found["last_ms"]) == rows(store, "SELECT min(start_ms), max(start_ms) FROM runs")[0]
    tables = {one["name"]: one for one in found["tables"]}
    for name, one in tables.items():
        assert rows(store, f"SELECT count(*) FROM {name}") == [(one["rows"],)]
        assert one["bytes_per_run"] == pytest.approx(one["bytes"] / len(NAMES))
    used = sum(one["bytes"] for one in tables.values())
    assert 0 < found["bytes"] - found["free_bytes"] - used < 16 * 4096  # what describes the tables
    assert tables["reports"]["bytes"] >= rows(store, "SELECT sum(length(json)) FROM reports")[0][0]


def test_mistakes_are_explained(command: Command, store: Path, tmp_path: Path) -> None:
    url, missing = f"sqlite:{store}", tmp_path / "missing.db"
    assert "say what to keep" in command("store", "prune", url).stderr
    assert "--keep goes with 'store prune'" in command("store", "stat", url, "--keep", "5d").stderr
    assert "--user goes with 'store query'" in command("store", "prune", url, "--user", "x").stderr
    assert command("store", "prune", url, "--keep", "long").returncode == 2
    for verb, options in (("stat", []), ("prune", ["--keep", "5d"]), ("prune", ["--keep", "5d", "--dry-run"])):
        assert command("store", verb, f"sqlite:{missing}", *options).returncode == 3
        assert not missing.exists()


def test_a_store_that_is_locked_is_left_alone(command: Command, store: Path) -> None:
    before = counts(store)
    with sqlite3.connect(store, isolation_level=None) as db:
        db.execute("BEGIN EXCLUSIVE")
        done = command("store", "prune", f"sqlite:{store}", "--keep", "5d")
        db.execute("ROLLBACK")
    assert done.returncode in (3, 4) and "locked" in done.stderr and done.stderr.count("\n") == 1
    assert counts(store) == before
