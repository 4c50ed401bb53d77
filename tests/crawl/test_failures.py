"""Logs that fail, sources that cannot be reached, stores that cannot be written, and an end in the middle."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import conftest
import pytest
from fleet import change, command, crawl, crawled, events, kinds, make_fleet, rows

WORK = "SELECT state, tries FROM work WHERE key LIKE '%broken'"
NEW, FAILED, DEAD, DONE = 0, 3, 4, 2


def test_a_file_that_is_no_log_fails_once(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    make_fleet(logs, 2)
    (logs / "broken").write_text('{"Event":"SomethingElse"}\npassword=hunter2secret\n')
    happened = crawled(store, logs)
    assert kinds(happened) == {"listed": 1, "stored": 2, "failed": 1, "passed": 1}
    ((app, step, message, raw, source, tries),) = rows(
        store, "SELECT app_id, step, message, raw, source, tries FROM errors"
    )
    assert (app, step, source, tries) == ("broken", "read", str(logs), 1) and message
    assert "SomethingElse" in raw and "hunter2secret" not in raw
    assert rows(store, WORK) == [(DEAD, 1)]
    assert kinds(crawled(store, logs)) == {"listed": 1, "passed": 1}
    assert kinds(crawled(store, logs, "--retry-errors"))["failed"] == 1
    # Without a source, for the next crawler; and nothing is waited for.
    done = crawl("--store", f"sqlite:{store}", "--retry-errors", "--log-format", "json")
    assert done.returncode == 0 and kinds(events(done)) == {"passed": 1}
    assert rows(store, WORK) == [(NEW, 0)]
    assert kinds(crawled(store, logs))["failed"] == 1
    # What changes is another log.
    (logs / "broken").write_bytes(make_fleet(tmp_path / "other", 1, first=9)[0].path.read_bytes())
    assert kinds(crawled(store, logs))["stored"] == 1
    assert rows(store, WORK) == [(DONE, 0)] or rows(store, WORK)[0][0] == DONE


def test_a_source_that_is_missing(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    make_fleet(logs, 1)
    happened = crawled(store, tmp_path / "nowhere", logs, exit=3)
    assert kinds(happened) == {"listed": 1, "unreachable": 1, "stored": 1, "passed": 1}
    done = crawl(tmp_path / "nowhere", "--store", f"sqlite:{store}", "--once")
    assert "nowhere" in done.stderr and done.returncode == 3


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "runs.db"
    make_fleet(logs, 1)
    for place in (tmp_path, tmp_path / "no" / "such.db"):
        assert crawl(logs, "--store", f"sqlite:{place}", "--once").returncode == 4
    store.write_text("This is no store.")
    assert crawl(logs, "--store", f"sqlite:{store}", "--once").returncode == 4
    assert store.read_text() == "This is no store."


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["logs"],
        ["--store", "sqlite:a.db"],
        ["logs", "--store", "sqlite:a.db", "--min-end-date", "yesterday"],
        ["logs", "--store", "sqlite:a.db", "--rate", "0"],
        ["logs", "--store", "sqlite:a.db", "--jobs", "0"],
        ["logs", "--store", "sqlite:a.db", "--once", "--every", "5s"],
        ["-", "--store", "sqlite:a.db"],
    ],
)
def test_wrong_usage(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(command(*words), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr


def test_empty_folders_are_no_failure(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    logs.mkdir()
    assert kinds(crawled(store, logs)) == {"listed": 1, "passed": 1}


def test_text_lines(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    make_fleet(logs, 1)
    (logs / "has a space").write_text("x")
    done = crawl(logs, "--store", f"sqlite:{store}", "--once")
    lines = done.stdout.splitlines()
    assert any(' log="has a space" ' in line for line in lines)
    assert lines[-1].split(" ", 1)[1] == "passed stored=1 skipped=0 failed=1 late=0"


def wait_until(store: Path, statement: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if rows(store, statement)[0][0]:
                return
        except sqlite3.Error:
            pass
        time.sleep(0.02)
    raise AssertionError(f"{statement}: {process.poll()}")


def test_sigterm_finishes_what_is_in_work_and_gives_back_the_rest(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    make_fleet(logs, 60)
    words = command(logs, "--store", f"sqlite:{store}", "--jobs", "1", "--rate", "20/s", "--log-format", "json")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, preexec_fn=conftest.default_signals)
    wait_until(store, "SELECT count(*) FROM runs", process)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    happened = [json.loads(line) for line in out.splitlines()]
    stored = kinds(happened)["stored"]
    assert "stopping" in kinds(happened) and stored < 60
    assert rows(store, "SELECT count(*) FROM runs") == [(stored,)]
    assert rows(store, "SELECT state, count(*) FROM work GROUP BY 1") == [(0, 60 - stored), (DONE, stored)]
    assert kinds(crawled(store, logs))["stored"] == 60 - stored


def test_a_locked_store_is_waited_for(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    make_fleet(logs, 1)
    crawled(store, logs)
    make_fleet(logs, 1, first=2)
    lock = sqlite3.connect(store, isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN EXCLUSIVE")
    process = subprocess.Popen(command(logs, "--store", f"sqlite:{store}", "--once"), stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    assert process.poll() is None
    lock.execute("ROLLBACK")
    lock.close()
    assert process.wait(timeout=60) == 0
    assert rows(store, "SELECT count(*) FROM runs") == [(2,)]


def test_it_loops(tmp_path: Path) -> None:
    """New logs are taken without another start, and a source that comes late too."""
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    words = command(logs, "--store", f"sqlite:{store}", "--every", "200ms", "--log-format", "json")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, preexec_fn=conftest.default_signals)
    make_fleet(logs, 1)
    wait_until(store, "SELECT count(*) FROM runs", process)
    make_fleet(logs, 1, first=2)
    wait_until(store, "SELECT count(*) = 2 FROM runs", process)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and out


def test_failures_that_may_pass_are_due_later(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    make_fleet(logs, 1)
    (logs / "broken").write_text("x")
    done = events(crawl(logs, "--store", f"sqlite:{store}", "--once", "--log-format", "json"))
    assert kinds(done)["failed"] == 1
    change(store, f"UPDATE work SET state = {FAILED}, tries = 3, next_ms = 0 WHERE key LIKE '%broken'")
    assert kinds(crawled(store, logs))["failed"] == 1
    assert os.path.exists(store) and rows(store, WORK) == [(DEAD, 4)]


def test_a_run_that_the_store_refuses_fails_alone(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    make_fleet(logs, 1)
    crawled(store, logs)
    one, two = make_fleet(logs, 2, first=2)
    trigger = f"CREATE TRIGGER no BEFORE INSERT ON run WHEN new.app_id = '{one.id}' BEGIN SELECT RAISE(ABORT, 'no'); END"
    change(store, trigger)
    happened = crawled(store, logs)
    (failure,) = [event for event in happened if event["event"] == "failed"]
    assert failure["step"] == "store" and failure["application"] == one.id
    assert rows(store, "SELECT count(*) FROM runs WHERE app_id = ?", two.id) == [(1,)]
    assert rows(store, "SELECT app_id, step, type FROM errors") == [(one.id, "store", "unwritten")]
    change(store, "DROP TRIGGER no")
    assert kinds(crawled(store, logs, "--retry-errors"))["stored"] == 1
