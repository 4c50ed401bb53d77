"""Real History Servers as sources: the store has what a crawl of their folder gives, and each run once."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from fleet import change, crawl, crawled, events, kinds, make_log, rows
from servers import spark
from servers.shared import ON_SPARK_3, ON_SPARK_4, History, home_or_skip

SAME = "app_id, attempt, name, user, start_ms, end_ms, spark_version, application, is_final_attempt"
SAMENESS = f"SELECT {SAME} FROM runs ORDER BY 1, 2"


def listed(history: History) -> List[Tuple[str, str]]:
    """Completed attempts as the server lists them."""
    status, _, body = history.server.request("GET", "/api/v1/applications")
    assert status == 200
    return sorted(
        (app["id"], attempt.get("attemptId", ""))
        for app in json.loads(body)
        for attempt in app["attempts"]
        if attempt["completed"]
    )


def kept(store: Path, run: Tuple[str, str]) -> Tuple[Dict[str, float], Dict[str, Any]]:
    """Aggregates of what a server shows, and its document without what depends on when it was read."""
    numbers = "SELECT name, value FROM aggregates WHERE app_id = ? AND attempt = ? AND name NOT LIKE 'run.%'"
    ((text,),) = rows(store, "SELECT json FROM raw WHERE app_id = ? AND attempt = ?", *run)
    document = json.loads(text)
    del document["time_processed"]
    return dict(rows(store, numbers, *run)), document


def compare_rest(history: History, by_log: Path, folder: Path) -> None:
    """Where a server gives no logs, its answers say the same of what it shows."""
    store, config = folder / "rest.db", folder / "crawl.yaml"
    config.write_text(f"store: sqlite:{store}\nsources:\n  - {{url: '{history.server.url}', remote: rest}}\n")
    done = crawl("--config", config, "--once", "--log-format", "json", limit_s=300)
    expected = listed(history)
    assert done.returncode == 0 and kinds(events(done)) == {"listed": 1, "stored": len(expected), "passed": 1}, done.stderr
    for run in expected:
        wanted, document = kept(by_log, run)
        found, told = kept(store, run)
        assert set(found) == set(wanted) and len(found) > 50
        unlike = [name for name in wanted if not math.isclose(found[name], wanted[name], rel_tol=1e-9, abs_tol=1e-9)]
        assert not unlike, (run, unlike[:20])
        assert told == document, run
    assert rows(store, SAMENESS) == rows(by_log, SAMENESS)


def listed_updates(history: History) -> Dict[Tuple[str, str], int]:
    _, _, body = history.server.request("GET", "/api/v1/applications")
    return {
        (app["id"], attempt.get("attemptId", "")): attempt["lastUpdatedEpoch"]
        for app in json.loads(body)
        for attempt in app["attempts"]
    }


def updated(store: Path) -> Dict[Tuple[str, str], int]:
    found = rows(store, "SELECT app_id, attempt, json_extract(json, '$.attempt.lastUpdatedEpoch') FROM raw")
    assert found
    return {(row[0], row[1]): row[2] for row in found}


def compare(history: History, folder: Path) -> None:
    store, files = folder / "server.db", folder / "folder.db"
    done = crawl(history.server.url + "/", "--store", f"sqlite:{store}", "--once", "--log-format", "json")
    assert done.returncode == 0, done.stderr
    expected = listed(history)
    assert rows(store, "SELECT app_id, attempt FROM runs ORDER BY 1, 2") == expected
    assert kinds(events(done))["stored"] == len(expected)
    assert crawl(history.folder, "--store", f"sqlite:{files}", "--once").returncode == 0
    of_folder = {row[:2]: row for row in rows(files, f"SELECT {SAME} FROM runs")}
    assert [of_folder[row[:2]] for row in rows(store, f"SELECT {SAME} FROM runs")] == rows(store, f"SELECT {SAME} FROM runs")
    findings = "SELECT id, severity FROM findings WHERE app_id = ? AND attempt = ? ORDER BY 1, 2"
    for run in expected:
        assert rows(store, findings, *run) == rows(files, findings, *run), run
    assert {row[0] for row in rows(store, "SELECT source FROM runs")} == {history.server.url}
    assert updated(store) == {run: when for run, when in listed_updates(history).items() if run in updated(store)}
    # A second pass, as another process and after less than a day.
    assert kinds(crawled(store, history.server.url)) == {"listed": 1, "passed": 1}
    # What changes on the server is read again, and replaces the run.
    change(store, "UPDATE work SET stamp = 'other'")
    assert kinds(crawled(store, history.server.url))["stored"] == len(expected)
    assert rows(store, "SELECT app_id, attempt FROM runs ORDER BY 1, 2") == expected
    compare_rest(history, store, folder)


@pytest.mark.slow
class TestSpark3:
    pytestmark = ON_SPARK_3

    def test_everything_once(self, spark_3: History, tmp_path: Path) -> None:
        compare(spark_3, tmp_path)
        # Of the logs of Spark 4 that it has, too.
        columns = "SELECT count(*) > 0 FROM aggregates WHERE name LIKE '%ConcurrentGCCount%'"
        assert rows(tmp_path / "server.db", columns) == [(0,)] and rows(tmp_path / "folder.db", columns) == [(1,)]

    def test_min_end_date(self, spark_3: History, tmp_path: Path) -> None:
        store = tmp_path / "runs.db"
        crawled(store, spark_3.server.url)
        ends = sorted(row[0] for row in rows(store, "SELECT end_ms FROM runs WHERE end_ms IS NOT NULL"))
        middle = ends[len(ends) // 2] // 1000 * 1000
        date = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(middle / 1000))
        crawled(tmp_path / "late.db", spark_3.server.url, "--min-end-date", date)
        assert sorted(row[0] for row in rows(tmp_path / "late.db", "SELECT end_ms FROM runs")) == [
            end for end in ends if end >= middle
        ]


@pytest.mark.slow
class TestSpark4:
    pytestmark = ON_SPARK_4

    def test_everything_once(self, spark_4: History, tmp_path: Path) -> None:
        compare(spark_4, tmp_path)


@pytest.mark.slow
def test_runs_that_end_while_it_is_crawled(tmp_path: Path) -> None:
    """Attempts out of order, in the same millisecond, and later than the runs that were taken before them."""
    home = home_or_skip()
    folder, store = tmp_path / "logs", tmp_path / "runs.db"
    folder.mkdir()
    make_log(folder, 1, attempt="2", shift_ms=7_200_000)
    make_log(folder, 2, shift_ms=86_400_000 * 3)
    settings = {"spark.history.fs.update.interval": "1s"}
    with spark.HistoryServer(home, folder, settings) as server:
        assert server.wait_for_attempts(2) == 2
        crawled(store, server.url)
        make_log(folder, 1, attempt="1", shift_ms=3_600_000)
        same = [make_log(folder, number, shift_ms=86_400_000 * 2) for number in (3, 4, 5)]
        assert server.wait_for_attempts(6) == 6
        crawled(store, server.url)
        assert kinds(crawled(store, server.url)) == {"listed": 1, "passed": 1}
    assert rows(store, "SELECT count(*), count(DISTINCT app_id) FROM runs") == [(6, 5)]
    ids = ", ".join(f"'{one.id}'" for one in same)
    assert rows(store, f"SELECT count(DISTINCT end_ms) FROM runs WHERE app_id IN ({ids})") == [(1,)]
    assert rows(store, "SELECT attempt, is_final_attempt FROM runs WHERE attempt <> '' ORDER BY 1") == [("1", 0), ("2", 1)]
