"""Logs whose numbers are as large as 64 bits allow: every verb and view answers, and the sanitizers see no overflow."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import cramjam
import pytest
from servers.pyrometer import Server

import conftest

VALUES = (2**63 - 1, -(2**63), -(2**63) + 1, 9 * 10**18, 2**62, -(2**62) - 1, 0, 1, -1)
# What refers to something else stays, or nothing would belong together.
KEPT = {"Stage ID", "Job ID", "Stage Attempt ID", "Task ID", "executionId", "accumulatorId", "ID", "RDD ID", "Stage IDs", "Parent IDs",
        "Resource Profile Id", "Index"}
LOGS = conftest.ROOT / "corpus" / "logs"


def wild(value: Any, share: float, draw: random.Random) -> Any:
    if isinstance(value, dict):
        return {key: one if key in KEPT else wild(one, share, draw) for key, one in value.items()}
    if isinstance(value, list):
        return [wild(one, share, draw) for one in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and draw.random() < share:
        return draw.choice(VALUES)
    return value


def make(path: Path, name: str, share: float) -> Path:
    draw = random.Random(name)
    lines = bytes(cramjam.zstd.decompress((LOGS / name).read_bytes())).splitlines()
    path.write_text("".join(json.dumps(wild(json.loads(line), share, draw)) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "share"), [("healthy_sql.zst", 0.05), ("data_skew.zst", 0.9)])
def test_every_verb(tmp_path: Path, name: str, share: float) -> None:
    log, other = make(tmp_path / "log", name, share), str(LOGS / name)
    binary = str(conftest.binary_path())
    store = f"sqlite:{tmp_path / 'store'}"
    for words in (
        ["diagnose", "--format", "json", "--store", store, str(log)],
        ["diagnose", "--format", "markdown", str(log)],
        ["diagnose", "--profile", "sparklens", str(log)],
        ["cost", str(log)],
        ["whatif", str(log), "--executors", "3"],
        ["compare", other, str(log)],
        ["compare", str(log), other],
        ["sql", str(log), "SELECT max(finish_ms), min(launch_ms) FROM tasks"],
    ):
        run = conftest.run_command([binary, *words])
        assert run.exit in (0, 1), (words, run.err)


@pytest.mark.parametrize("share", [0.05, 0.9])
def test_every_view(tmp_path: Path, share: float) -> None:
    (tmp_path / "logs").mkdir()
    make(tmp_path / "logs" / "log", "healthy_sql.zst", share)
    with Server(tmp_path / "logs") as server:
        app = json.loads(server.request("GET", "/pyrometer/v1/applications")[2])["applications"][0]  # Spark's list asks for dates
        attempt = app["attempts"][0]["attempt"]
        base = f"applications/{app['id']}" + (f"/{attempt}" if attempt else "")
        for path in ("", "/jobs", "/stages", "/stages?details=true&withSummaries=true", "/allexecutors", "/environment", "/storage/rdd", "/sql"):
            status, _, body = server.get(base + path)
            assert status == 200, (path, body[:300])
        for stage in json.loads(server.get(f"{base}/stages")[2])[:3]:
            place = f"{base}/stages/{stage['stageId']}/{stage['attemptId']}"
            for path in ("", "/taskSummary", "/taskList?sortBy=runtime&length=500"):
                status, _, body = server.get(place + path)
                assert status in (200, 404), (path, body[:300])
        own = f"/pyrometer/v1/applications/{app['id']}/{attempt or '-'}"
        for path in ("report", "timeline", "executors", "sql", "configuration"):
            assert server.request("GET", f"{own}/{path}")[0] in (200, 404), path
