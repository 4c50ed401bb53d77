"""One call of a crawler fails: it ends with a clear status, and the next crawl finds all that is missing."""

from __future__ import annotations

import re
import sqlite3
import sys
from pathlib import Path
from typing import List

import pytest
from faults import Command, chosen, library

import conftest

sys.path.insert(0, str(conftest.ROOT / "tests" / "crawl"))

import fleet  # noqa: E402

pytestmark = pytest.mark.skipif(library() is None, reason="this build has no library that lets calls fail")
STATUSES = {
    0,  # nothing failed, or a single log did
    3,  # the source could not be listed
    4,  # the store could not be written, or there was no memory
}


def stored(store: Path) -> object:
    found = fleet.content(store)
    found.pop("errors")
    # A log whose time of change cannot be asked for is stored nevertheless.
    found["raw"] = [(*row[:2], re.sub('"lastUpdated[^,]*', "", row[2])) for row in found["raw"]]
    return found


def test_the_next_crawl_finds_what_is_missing(tmp_path: Path) -> None:
    store, logs = tmp_path / "runs.db", tmp_path / "logs"
    fleet.make_fleet(logs, 1)
    command = Command(tmp_path)
    arguments: List[object] = ["crawl", logs, "--store", f"sqlite:{store}", "--once", "--jobs", "1"]
    good = command.run(arguments)
    assert good.exit == 0, good.err
    calls = command.control.calls()
    whole = stored(store)
    wrong: List[str] = []
    for fault in chosen(calls, 24):
        for file in tmp_path.glob("runs.db*"):
            file.unlink()
        got = command.run(arguments, fault)
        if got.exit not in STATUSES or (got.exit and not got.err.startswith("pyrometer: ")):
            wrong.append(f"{fault}: exit {got.exit}, {got.err!r}")
        try:  # what time does
            fleet.change(store, "UPDATE work SET until_ms = 0 WHERE state = 1")
        except sqlite3.OperationalError:
            pass  # it did not come so far
        again = command.run([*arguments, "--retry-errors"])
        if again.exit or stored(store) != whole:
            wrong.append(f"{fault}: exit {got.exit}, afterwards exit {again.exit} {again.err!r}")
        wrong += [f"{fault} leaves {name} behind" for name in command.left_behind()]
    assert not wrong, "\n".join(wrong)
