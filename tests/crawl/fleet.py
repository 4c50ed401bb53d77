"""Fleets for the crawler's tests: many logs made of a recorded one, and what a store says of them."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import conftest
import logfiles

TEMPLATE = conftest.ROOT / "corpus" / "logs" / "result_limit.zst"
EPOCH_MS = re.compile(rb"\b1[67]\d{11}\b")
# Of each view, what is the same however often, and by whomever, a run was recorded.
PASSING = {"recorded_ms", "time_ms", "until_ms", "next_ms", "epoch", "owner", "tries"}
TIME_PROCESSED = re.compile(r'"time_processed" : [^,}]*')
VIEWS = ("runs", "reports", "raw", "aggregates", "properties", "tags", "findings", "allocations", "usage", "advice", "errors")


@lru_cache(maxsize=None)
def template(path: Path = TEMPLATE) -> bytes:
    (log,) = logfiles.find_logs(path)
    return b"".join(logfiles.plain_bytes(part)[0] for part in log.parts)


class Made(NamedTuple):
    id: str
    attempt: str
    path: Path


def make_log(
    folder: Path, number: int, name: str = "nightly", attempt: str = "", shift_ms: Optional[int] = None, path: Path = TEMPLATE
) -> Made:
    """A copy of a recorded run under an id of its own, later by an hour for each number."""
    text = template(path)
    found = re.search(rb'"App ID":"([^"]+)"', text)
    assert found
    app_id = f"app-20260101000000-{number:04d}"
    shift = number * 3_600_000 if shift_ms is None else shift_ms
    text = text.replace(found.group(1), app_id.encode())
    text = re.sub(rb'"App Name":"[^"]*"', lambda _: b'"App Name":' + json.dumps(name).encode(), text, count=1)
    if attempt:
        text = text.replace(b'"App ID":', b'"App Attempt ID":' + json.dumps(attempt).encode() + b',"App ID":', 1)
    text = EPOCH_MS.sub(lambda match: str(int(match.group()) + shift).encode(), text)
    target = folder / (f"{app_id}_{attempt}" if attempt else app_id)
    hidden = folder / f".{target.name}"  # crawlers may look at any time
    hidden.write_bytes(text)
    hidden.rename(target)
    return Made(app_id, attempt, target)


def make_fleet(folder: Path, count: int, first: int = 1) -> List[Made]:
    folder.mkdir(parents=True, exist_ok=True)
    return [make_log(folder, number) for number in range(first, first + count)]


def rows(store: Path, statement: str, *values: Any) -> List[Tuple[Any, ...]]:
    database = sqlite3.connect(store, timeout=60)
    try:
        return database.execute(statement, values).fetchall()
    finally:
        database.close()


def change(store: Path, statement: str) -> None:
    database = sqlite3.connect(store, timeout=60)
    try:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute(statement)
        database.commit()
    finally:
        database.close()


def content(store: Path) -> Dict[str, List[Tuple[Any, ...]]]:
    """All that the views say except when and by whom it was recorded; and what became of each log."""
    answer = {}
    for view in VIEWS:
        columns = [row[1] for row in rows(store, f"SELECT * FROM pragma_table_info('{view}')") if row[1] not in PASSING]
        columns = columns or [row[0] for row in rows(store, f"SELECT name FROM pragma_table_info('{view}')") if row[0] not in PASSING]
        answer[view] = sorted(rows(store, f"SELECT {', '.join(columns)} FROM {view}"), key=repr)
    answer["raw"] = [(*row[:2], TIME_PROCESSED.sub("", row[2])) for row in answer["raw"]]
    answer["work"] = sorted(rows(store, "SELECT key, stamp, state FROM work"))
    return answer


def command(*words: Any) -> List[str]:
    return [str(conftest.binary_path()), "crawl", *map(str, words)]


def crawl(*words: Any, limit_s: float = 120, env: Optional[Dict[str, str]] = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(*words), capture_output=True, text=True, timeout=limit_s, check=False, env={**os.environ, **(env or {})}
    )


def events(done: "subprocess.CompletedProcess[str]") -> List[Dict[str, Any]]:
    """What `--log-format json` printed."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def crawled(store: Path, *words: Any, exit: int = 0) -> List[Dict[str, Any]]:
    """One pass into the store, and its events."""
    done = crawl(*words, "--store", f"sqlite:{store}", "--once", "--log-format", "json")
    assert done.returncode == exit, done.stdout + done.stderr
    return events(done)


def kinds(happened: Sequence[Dict[str, Any]]) -> Dict[str, int]:
    count: Dict[str, int] = {}
    for event in happened:
        count[event["event"]] = count.get(event["event"], 0) + 1
    return count
