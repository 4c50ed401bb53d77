"""Stores of earlier and later versions, and runs that contradict what a store has."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
from pathlib import Path

import pytest
from cli_command import ROOT, Command, pyrometer  # noqa: F401  (fixture)

LOG = ROOT / "corpus" / "logs" / "straggler.zst"
VIEWS = [
    "runs", "raw", "reports", "aggregates", "properties", "tags", "findings", "allocations", "usage", "advice",
    "suggestions", "errors", "feedback", "baselines", "work", "cluster", "days",
]  # fmt: skip


@pytest.fixture
def first_version(tmp_path: Path) -> Path:
    """A store as version 1 wrote it: two runs with names, an error and a verdict."""
    store = tmp_path / "version-1.db"
    store.write_bytes(gzip.decompress((Path(__file__).parent / "stores" / "version-1.db.gz").read_bytes()))
    return store


def rows(store: Path, statement: str) -> list[tuple]:
    with sqlite3.connect(store) as db:
        return db.execute(statement).fetchall()


def schema(store: Path) -> set[tuple]:
    """Names and columns of all tables and views."""
    with sqlite3.connect(store) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view', 'index')")]
        return {(name, column[1], column[2]) for name in names for column in db.execute(f"PRAGMA table_info('{name}')")} | {
            (name, "", "") for name in names
        }


def test_a_store_of_version_1_is_upgraded_in_place(pyrometer: Command, first_version: Path, tmp_path: Path) -> None:  # noqa: F811
    before = rows(first_version, "SELECT app_id, name, start_ms, path, json FROM run ORDER BY app_id")
    findings = rows(first_version, "SELECT * FROM findings ORDER BY app_id, id")
    assert len(before) == 2 and findings
    assert pyrometer("diagnose", ROOT / "corpus" / "logs" / "idle_executors.zst", "-s", f"sqlite:{first_version}").returncode == 0
    after = rows(first_version, "SELECT r.app_id, name, start_ms, path, json FROM runs r JOIN reports USING (app_id, attempt)")
    assert set(before) < set(after) and len(after) == 3
    assert set(findings) < set(rows(first_version, "SELECT * FROM findings"))
    assert rows(first_version, "SELECT count(*) FROM baselines") == [(2,)]
    assert rows(first_version, "SELECT note FROM feedback") == [("seen",)]
    assert rows(first_version, "SELECT app_id, step, tries FROM errors") == [("/logs/junk", "read", 1)]
    # Values of another meaning are removed; those of the run that was added are present.
    assert len(rows(first_version, "SELECT DISTINCT app_id FROM aggregates")) == 1
    assert rows(first_version, "PRAGMA user_version") == [(2,)] and rows(first_version, "PRAGMA integrity_check") == [("ok",)]
    fresh = tmp_path / "fresh.db"
    pyrometer("diagnose", LOG, "-s", f"sqlite:{fresh}")
    assert schema(first_version) == schema(fresh)
    assert all(isinstance(rows(fresh, f"SELECT count(*) FROM {view}")[0][0], int) for view in VIEWS)


def test_a_reader_upgrades_too(pyrometer: Command, first_version: Path) -> None:  # noqa: F811
    # Which does not come from the log that the store names, but the store was read.
    answer = pyrometer("gate", LOG, "--baseline", "straggler", "-s", f"sqlite:{first_version}")
    assert answer.returncode == 3 and "no longer exists" in answer.stderr
    assert rows(first_version, "PRAGMA user_version") == [(2,)]


def test_aggregates_of_version_1_come_back(pyrometer: Command, first_version: Path, tmp_path: Path) -> None:  # noqa: F811
    with sqlite3.connect(first_version) as db:
        db.execute("UPDATE run SET path = replace(path, '/logs/', ?)", (f"{LOG.parent}/",))
    paths = [Path(path) for (path,) in rows(first_version, "SELECT path FROM run ORDER BY path")]
    assert len(paths) == 2 and all(path.is_file() for path in paths)
    before = rows(first_version, "SELECT name, run FROM baseline ORDER BY 1")
    assert pyrometer("crawl", "--recompute", "-s", f"sqlite:{first_version}").returncode == 0
    fresh = tmp_path / "fresh.db"
    for path in paths:
        assert pyrometer("diagnose", path, "-s", f"sqlite:{fresh}").returncode == 0
    for view in ("aggregates", "properties", "allocations", "usage"):
        kept = sorted(rows(first_version, f"SELECT * FROM {view}"), key=repr)
        assert kept and kept == sorted(rows(fresh, f"SELECT * FROM {view}"), key=repr), view
    assert rows(first_version, "SELECT count(*) FROM raw") == [(2,)]
    assert rows(first_version, "SELECT name, run FROM baseline ORDER BY 1") == before


def test_a_later_version_is_refused_untouched(pyrometer: Command, first_version: Path) -> None:  # noqa: F811
    with sqlite3.connect(first_version) as db:
        db.execute("PRAGMA user_version = 3")
    before = hashlib.sha256(first_version.read_bytes()).digest()
    refused = pyrometer("diagnose", LOG, "-s", f"sqlite:{first_version}")
    assert refused.returncode == 3 and "version 3" in refused.stderr and "newer build" in refused.stderr
    assert hashlib.sha256(first_version.read_bytes()).digest() == before


def test_an_id_with_another_start_is_a_conflict(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = tmp_path / "runs.db"
    first = [
        {"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
        {"Event": "SparkListenerApplicationStart", "App Name": "one", "App ID": "app-1", "Timestamp": 1000, "User": "u"},
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 9000},
    ]
    other = [dict(event) for event in first]
    other[1].update({"Timestamp": 2000, "App Name": "two"})
    for name, lines in (("first", first), ("other", other)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert pyrometer("diagnose", tmp_path / "first", "-s", f"sqlite:{store}").returncode == 0
    refused = pyrometer("diagnose", tmp_path / "other", "-s", f"sqlite:{store}")
    assert refused.returncode == 4 and "id-conflict" in refused.stderr and "app-1" in refused.stderr
    assert rows(store, "SELECT name, start_ms FROM runs") == [("one", 1000)]
    assert rows(store, "SELECT app_id, step, type FROM errors") == [("app-1", "store", "id-conflict")]


NAME = '"is_final_attempt" : true, \\"'


def test_a_later_attempt_is_the_final_one(pyrometer: Command, tmp_path: Path) -> None:  # noqa: F811
    store = tmp_path / "runs.db"
    for attempt, start in (("2", 5000), ("1", 1000), ("3", 9000)):
        lines = [
            {"Event": "SparkListenerApplicationStart", "App Name": NAME, "App ID": "app-1", "App Attempt ID": attempt,
             "Timestamp": start, "User": "u"},
            {"Event": "SparkListenerApplicationEnd", "Timestamp": start + 500},
        ]  # fmt: skip
        (tmp_path / attempt).write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert pyrometer("diagnose", tmp_path / attempt, "-s", f"sqlite:{store}").returncode == 0
        final = rows(store, "SELECT attempt FROM runs WHERE is_final_attempt")
        assert final == ([("3",)] if attempt == "3" else [("2",)])
        # The documents of the attempts before it, too, and nothing else of them.
        documents = [json.loads(text) for (text,) in rows(store, "SELECT json FROM raw ORDER BY attempt")]
        assert [one["attempt"]["attemptId"] for one in documents if one["is_final_attempt"]] == [attempt for (attempt,) in final]
        assert all(one["name"] == NAME and one["is_final_attempt"] in (False, True) for one in documents)
