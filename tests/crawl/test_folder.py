"""A folder of event logs as a source: what is taken, when, and how often."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import time
from pathlib import Path

import conftest
import pytest
from fleet import change, command, content, crawl, crawled, kinds, make_fleet, make_log, rows

ATTEMPTS = sorted((conftest.ROOT / "tests" / "logs" / "attempts").glob("application_*"))
ROLLING = conftest.ROOT / "tests" / "logs" / "codecs" / "lz4-rolling"


def ids(store: Path) -> list[tuple[str, str]]:
    return rows(store, "SELECT app_id, attempt FROM runs ORDER BY 1, 2")


def test_each_run_is_taken_once(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    made = make_fleet(logs, 5)
    first = crawled(store, logs)
    assert kinds(first) == {"listed": 1, "stored": 5, "passed": 1}
    assert ids(store) == [(one.id, "") for one in made]
    assert kinds(crawled(store, logs)) == {"listed": 1, "passed": 1}
    made += make_fleet(logs, 2, first=6)
    assert kinds(crawled(store, logs))["stored"] == 2
    assert ids(store) == [(one.id, "") for one in made]
    assert {row[0] for row in rows(store, "SELECT source FROM runs")} == {str(logs)}


def test_the_store_is_no_log(tmp_path: Path) -> None:
    """It may be in the folder that is crawled, and changes with each pass."""
    store = tmp_path / "runs.db"
    made = make_fleet(tmp_path, 2)
    assert kinds(crawled(store, tmp_path)) == {"listed": 1, "stored": 2, "passed": 1}
    (tmp_path / "runs.db-journal").touch()
    assert kinds(crawled(store, tmp_path)) == {"listed": 1, "passed": 1}
    assert ids(store) == [(one.id, "") for one in made] and rows(store, "SELECT count(*) FROM errors") == [(0,)]


def test_two_applications_in_one_file(tmp_path: Path) -> None:
    """Refused permanently, with the reason; the other logs are taken."""
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    made = make_fleet(logs, 3)
    made[0].path.write_bytes(made[0].path.read_bytes() + made[1].path.read_bytes())
    happened = crawled(store, logs)
    assert kinds(happened)["stored"] == 2 and ids(store) == [(one.id, "") for one in made[1:]]
    errors = [row[0] for row in rows(store, "SELECT message FROM errors")]
    assert len(errors) == 1 and "two applications" in errors[0]


def test_what_diagnose_records_is_what_crawl_records(tmp_path: Path) -> None:
    crawler, other, logs = tmp_path / "a.db", tmp_path / "b.db", tmp_path / "logs"
    (made,) = make_fleet(logs, 1)
    crawled(crawler, logs)
    done = conftest.run_command([str(conftest.binary_path()), "diagnose", str(made.path), "--store", f"sqlite:{other}"])
    assert done.exit == 0, done.explain()
    mine, theirs = content(crawler), content(other)
    for view in ("reports", "aggregates", "findings", "allocations", "usage", "advice", "properties"):
        assert mine[view] == theirs[view]


def test_attempts_late_and_out_of_order(tmp_path: Path) -> None:
    """The second attempt is seen first; runs end in the same millisecond; an old one comes last."""
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    logs.mkdir()
    later = make_log(logs, 1, attempt="2", shift_ms=7_200_000)
    crawled(store, logs)
    assert rows(store, "SELECT is_final_attempt FROM runs") == [(1,)]
    earlier = make_log(logs, 1, attempt="1", shift_ms=3_600_000)
    same = [make_log(logs, number, shift_ms=7_200_000) for number in (2, 3)]
    old = make_log(logs, 4, shift_ms=-86_400_000 * 40)
    os.utime(old.path, (1_700_000_000, 1_700_000_000))
    crawled(store, logs)
    assert ids(store) == sorted((one.id, one.attempt) for one in (later, earlier, *same, old))
    final = rows(store, "SELECT attempt, is_final_attempt FROM runs WHERE app_id = ? ORDER BY 1", later.id)
    assert final == [("1", 0), ("2", 1)]
    assert rows(store, "SELECT count(DISTINCT end_ms) FROM runs WHERE app_id IN (?, ?)", *(one.id for one in same)) == [(1,)]


def test_recorded_attempts_and_rolling_logs(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    logs.mkdir()
    for path in ATTEMPTS:
        shutil.copy2(path, logs)
    for path in sorted(ROLLING.iterdir()):
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, logs / path.name)
    assert crawl(logs, "--store", f"sqlite:{store}", "--once").returncode == 0
    assert [row[1] for row in ids(store) if row[0] == "application_1795242757850_0001"] == ["1", "2"]
    assert len(ids(store)) == 3
    again = crawled(store, logs)
    assert kinds(again) == {"listed": 1, "passed": 1}


def test_a_growing_log_is_taken_when_it_ends_or_stands_still(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    logs.mkdir()
    made = make_log(logs, 1)
    whole = made.path.read_bytes()
    growing = made.path.with_name(made.path.name + ".inprogress")
    made.path.rename(growing)
    growing.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert kinds(crawled(store, logs)) == {"listed": 1, "passed": 1}
    day_ago = time.time() - 86_500
    os.utime(growing, (day_ago, day_ago))
    assert kinds(crawled(store, logs))["stored"] == 1
    assert rows(store, "SELECT status FROM runs") != [("completed",)]
    growing.unlink()
    made.path.write_bytes(whole)
    assert kinds(crawled(store, logs))["stored"] == 1
    assert ids(store) == [(made.id, "")] and rows(store, "SELECT count(*) FROM work") == [(1,)]


def test_a_log_that_changes_replaces_its_run(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    (made,) = make_fleet(logs, 1)
    whole = made.path.read_bytes()
    made.path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    crawled(store, logs)
    before = rows(store, "SELECT status FROM runs")
    made.path.write_bytes(whole)
    crawled(store, logs)
    assert before != rows(store, "SELECT status FROM runs") and ids(store) == [(made.id, "")]


def test_min_end_date(tmp_path: Path) -> None:
    """UTC; a log that was written earlier holds no later end, and a run that ended earlier is not kept."""
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    logs.mkdir()
    make_log(logs, 1)
    end_ms = None
    crawled(store, logs)
    ((end_ms,),) = rows(store, "SELECT end_ms FROM runs")
    change(store, "DELETE FROM run")
    change(store, "DELETE FROM work")
    after = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(end_ms / 1000 + 1))
    before = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(end_ms / 1000))
    assert kinds(crawled(store, logs, "--min_end_date", after)).get("stored", 0) == 0
    change(store, "DELETE FROM work")
    assert kinds(crawled(store, logs, "--min-end-date", before))["stored"] == 1


def test_same_id_other_start_is_a_conflict(tmp_path: Path) -> None:
    store, logs, more = tmp_path / "runs.db", tmp_path / "logs", tmp_path / "more"
    logs.mkdir()
    more.mkdir()
    make_log(logs, 1, shift_ms=0)
    make_log(more, 1, shift_ms=60_000)
    crawled(store, logs)
    kept = content(store)["runs"]
    happened = crawled(store, more)
    (failure,) = [event for event in happened if event["event"] == "failed"]
    assert failure["step"] == "store" and failure["lasting"] == 1
    assert content(store)["runs"] == kept
    assert rows(store, "SELECT step, type FROM errors") == [("store", "id-conflict")]
    assert kinds(crawled(store, more)) == {"listed": 1, "passed": 1}


def test_recompute_reads_what_is_still_there(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    kept, gone = make_fleet(logs, 2)
    crawled(store, logs)
    before = content(store)
    change(store, "DELETE FROM aggregate")
    gone.path.unlink()
    happened = crawled(store, "--recompute")
    assert kinds(happened) == {"stored": 1, "skipped": 1, "passed": 1}
    of_kept = [row for row in before["aggregates"] if row[0] == kept.id]
    assert content(store)["aggregates"] == of_kept and content(store)["runs"] == before["runs"]


@pytest.mark.parametrize("on_terminal", [("stderr",), ("stdout",), ("stdout", "stderr"), ()])
def test_progress_is_for_terminals(on_terminal: tuple[str, ...], tmp_path: Path) -> None:
    """Events are lines of standard output; progress is on standard error, and only on a terminal."""
    make_fleet(tmp_path / "logs", 1)
    (tmp_path / "logs" / "broken").write_text("no log")
    texts = {}
    ends = {}
    for name in ("stdout", "stderr"):
        ends[name] = pty.openpty() if name in on_terminal else os.pipe()
    words = command(tmp_path / "logs", "--store", f"sqlite:{tmp_path}/runs.db", "--once")
    # What it prints is short: it fits into the pipes.
    mine = {name: theirs for name, (ours, theirs) in ends.items()}
    assert subprocess.run(words, timeout=60, check=False, env={**os.environ, "TERM": "xterm"}, **mine).returncode == 0
    for name, (ours, theirs) in ends.items():
        os.write(theirs, b"END")
        text = b""
        while not text.endswith(b"END"):
            text += os.read(ours, 65536)
        texts[name] = text[:-3].decode()
        os.close(ours)
        os.close(theirs)
    assert ("1 runs stored" in texts["stderr"]) == ("stderr" in on_terminal) and "runs stored" not in texts["stdout"]
    assert ("stderr" in on_terminal) or texts["stderr"] == ""
    events = [line.split()[1] for line in texts["stdout"].splitlines()]
    assert sorted(events) == (["failed"] if len(on_terminal) == 2 else ["failed", "listed", "passed", "stored"])


def test_several_sources_and_a_rate(tmp_path: Path) -> None:
    store, one, two = tmp_path / "runs.db", tmp_path / "one", tmp_path / "two"
    make_fleet(one, 3)
    make_fleet(two, 3, first=11)
    happened = crawled(store, one, two, "--rate", "50/s", "--jobs", "2")
    assert kinds(happened) == {"listed": 2, "stored": 6, "passed": 1}
    assert rows(store, "SELECT source, count(*) FROM runs GROUP BY 1") == [(str(one), 3), (str(two), 3)]
