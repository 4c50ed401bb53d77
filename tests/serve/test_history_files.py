"""Histories kept in the cache folder: the same answers from them as from the log, and none from one that is damaged."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Dict, List, Tuple

import pytest
from servers.pyrometer import Answer, Server

import conftest

LOG = conftest.ROOT / "corpus" / "logs" / "tiny_json.zst"  # its text is longer than what is read as fast as kept


def answers(server: Server) -> Dict[str, Answer]:
    """All that is said of the one application."""
    base = f"applications/{json.loads(server.get('applications')[2])[0]['id']}"
    paths: List[str] = [
        f"{base}/{path}"
        for path in (
            "jobs",
            "stages?details=true&withSummaries=true",
            "allexecutors",
            "environment",
            "storage/rdd",
            "sql?details=true&length=1000",
        )
    ]
    stages = json.loads(server.get(f"{base}/stages")[2])
    for stage in stages[:3]:
        paths.append(f"{base}/stages/{stage['stageId']}/{stage['attemptId']}/taskList?length=100000&sortBy=-runtime")
        paths.append(f"{base}/stages/{stage['stageId']}/{stage['attemptId']}/taskSummary")
    return {path: server.get(path) for path in paths}


def kept(cache: Path) -> List[Path]:
    return sorted(cache.glob("*.history"))


def run(folder: Path, cache: Path) -> Dict[str, Answer]:
    with Server(folder, "--cache", str(cache)) as server:
        return answers(server)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Tuple[Path, Path, Dict[str, Answer]]:
    folder, cache = tmp_path_factory.mktemp("logs"), tmp_path_factory.mktemp("cache")
    shutil.copy(LOG, folder / LOG.name)
    return folder, cache, run(folder, cache)


def test_kept_and_read_again(first: Tuple[Path, Path, Dict[str, Answer]]) -> None:
    folder, cache, expected = first
    assert all(status in (200, 404) for status, _, _ in expected.values())
    assert len(kept(cache)) == 2  # without and with SQL executions
    text = 19_280_932
    before = [path.stat().st_mtime_ns for path in kept(cache)]
    assert all(path.stat().st_size < text * 15 // 100 for path in kept(cache))
    assert run(folder, cache) == expected
    assert [path.stat().st_mtime_ns for path in kept(cache)] == before, "read from the log again"


def test_the_file_is_what_answers(first: Tuple[Path, Path, Dict[str, Answer]], tmp_path: Path) -> None:
    """With the log's text made unreadable behind its first bytes, its size and times kept, answers stay."""
    folder, cache, expected = first
    other = tmp_path / "logs"
    shutil.copytree(folder, other)
    cache_copy = tmp_path / "cache"
    run(other, cache_copy)
    log = other / LOG.name
    stat = log.stat()
    with log.open("r+b") as file:
        file.seek(100_000)
        file.write(b"\0" * 50_000)
    os.utime(log, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert {path: answer[2] for path, answer in run(other, cache_copy).items()} == {
        path: answer[2] for path, answer in expected.items()
    }


def test_damaged_and_foreign_files_do_not_count(first: Tuple[Path, Path, Dict[str, Answer]]) -> None:
    folder, cache, expected = first
    for damage in (b"", b"PYROHST\0" + b"\xff" * 100, None):
        for path in kept(cache):
            if damage is None:
                content = bytearray(path.read_bytes())
                content[len(content) // 2] ^= 1
                path.write_bytes(content)
            else:
                path.write_bytes(damage)
        assert run(folder, cache) == expected
        assert all(path.stat().st_size > 1000 for path in kept(cache)), "not made anew"


def test_a_changed_log_is_read(first: Tuple[Path, Path, Dict[str, Answer]]) -> None:
    folder, cache, expected = first
    before = [path.read_bytes() for path in kept(cache)]
    os.utime(folder / LOG.name, (time.time() - 1000, time.time() - 1000))
    assert run(folder, cache) == expected
    assert [path.read_bytes() for path in kept(cache)] != before
