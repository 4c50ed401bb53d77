"""What the program keeps belongs to its owner alone, whatever the umask is: stores, caches, and what lies next to them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator, List

import pytest
from planting import write
from servers.pyrometer import Server

import conftest

STORED = conftest.ROOT / "corpus" / "logs" / "straggler.zst"
OTHER_USERS = 0o077


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    mask = os.umask(0o022)
    yield
    os.umask(mask)


def opened(folder: Path) -> List[str]:
    """What other users could open of it."""
    return [f"{path}: {path.stat().st_mode & 0o777:o}" for path in sorted(folder.rglob("*"))
            if path.is_file() and path.stat().st_mode & OTHER_USERS]


def run(*words: object) -> None:
    done = conftest.run_command([str(conftest.binary_path()), *map(str, words)])
    assert done.exit == 0, done.explain()


def test_a_store(tmp_path: Path) -> None:
    run("diagnose", STORED, "--store", f"sqlite:{tmp_path}/runs.db", "--format", "json")
    run("crawl", "--once", "--store", f"sqlite:{tmp_path}/crawled.db", STORED.parent / STORED.name)
    assert len(list(tmp_path.iterdir())) >= 2
    assert opened(tmp_path) == []


def test_a_store_that_others_may_read_stays_so(tmp_path: Path) -> None:
    """The owner has decided that."""
    store = tmp_path / "runs.db"
    run("diagnose", STORED, "--store", f"sqlite:{store}", "--format", "json")
    store.chmod(0o640)
    run("diagnose", STORED, "--store", f"sqlite:{store}", "--format", "json")
    assert store.stat().st_mode & 0o777 == 0o640


def test_a_cache(tmp_path: Path) -> None:
    logs, cache = tmp_path / "logs", tmp_path / "cache"
    logs.mkdir()
    write(logs / "app", False, 17)  # only of a large log is an index kept
    with Server(logs, "--cache", str(cache)) as server:
        assert server.request("GET", "/api/v1/applications")[0] == 200
        app = server.get("applications")[2]
        assert app
    assert any(path.is_file() for path in cache.rglob("*"))
    assert opened(cache) == []
