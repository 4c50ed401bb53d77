"""What the API says of runs with and without traces."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any, Dict, Iterator

import pytest
import schemas
from servers.pyrometer import Server

import conftest

sys.path.insert(0, str(conftest.ROOT / "tests" / "traces"))
from made_trace import LOG, tasks_of, trace_run  # noqa: E402

PLAIN = conftest.ROOT / "corpus" / "logs" / "skew_rdd.zst"
NS_PER_MS = 10**6
# What each task does, in percent: see made_trace.work().
ROOTS = {"running-user": 68, "runnable": 20, "disk": 12}


class Api:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.apps = {one["name"]: one["id"] for one in self.request("applications")["applications"]}

    def request(self, path: str, status: int = 200) -> Any:
        found, _, body = self.server.request("GET", f"/pyrometer/v1/{path}")
        assert found == status, body
        return json.loads(body)

    def get(self, name: str, path: str) -> Dict[str, Any]:
        document: Dict[str, Any] = self.request(f"applications/{self.apps[name]}/-/{path}")
        schemas.validate(document)
        return document


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("served")
    trace_run(folder / "run")
    shutil.copy(PLAIN, folder)
    with Server(folder) as server:
        yield Api(server)


def test_times_are_those_of_the_made_tasks(api: Api) -> None:
    document = api.get("data_skew", "trace")
    tasks = tasks_of(LOG)
    assert document["tasks"] == {"traced": len(tasks), "torn": 0} and document["losses"] == []
    assert {row["stage"] for row in document["stages"]} == {task.stage for task in tasks}
    for row in document["stages"]:
        own = [task for task in tasks if task.stage == row["stage"]]
        whole = sum(task.end_ns - task.start_ns for task in own)
        assert (row["tasks"], row["traced_ns"]) == (len(own), whole)
        assert sum(row["roots_ns"].values()) == whole
        for root, percent in ROOTS.items():
            assert abs(row["roots_ns"][root] / whole * 100 - percent) < 0.5, (row["stage"], root)
    calls = {row["name"]: row for row in document["calls"]}
    assert calls["read"]["count"] == len(tasks) and calls["read"]["bytes"] == 65536 * len(tasks)
    assert {row["executor"] for row in document["processes"] if row["executor"]} == {task.executor for task in tasks}


def test_a_stage_has_its_part_of_the_trace(api: Api) -> None:
    for row in api.get("data_skew", "trace")["stages"]:
        waits = api.get("data_skew", f"stages/{row['stage']}/{row['attempt']}")["waits"]
        assert waits == {key: row[key] for key in ("traced_ns", "tasks", "roots_ns", "waits")}


def test_without_a_trace_nothing_is_said(api: Api) -> None:
    document = api.get("skew_rdd", "trace")
    assert document["events"] == 0 and document["start_ms"] is None
    assert all(document[key] == [] for key in ("traces", "losses", "stages", "processes", "calls", "event_classes", "findings"))
    assert "waits" not in api.get("skew_rdd", "stages/0/0")
    assert not {"tracks", "states"} & set(api.get("skew_rdd", "timeline"))


def test_threads_of_tasks_are_tracks_of_their_executors(api: Api) -> None:
    document = api.get("data_skew", "timeline")
    tracks = [track for track in document["tracks"] if track["kind"] == "states"]
    tasks = {task.task: task for task in tasks_of(LOG)}
    assert {track["executor"] for track in tracks} == {task.executor for task in tasks.values()}
    seen = set()
    for track in tracks:
        for start, length, code, task, merged in zip(*(track[key] for key in ("start_ns", "duration_ns", "code", "value", "merged"))):
            assert merged >= 1 and document["states"][code] in {*ROOTS, "running-system", "futex"}
            begin = start + document["start_ms"] * NS_PER_MS
            assert merged > 1 or tasks[task].start_ns <= begin <= begin + length <= tasks[task].end_ns
            assert tasks[task].executor == track["executor"]
            seen.add(task)
    assert len(seen) > len(tasks) // 2  # of tasks shorter than a pixel the longest is named


def test_a_part_of_the_timeline_has_more_detail(api: Api) -> None:
    task = max(tasks_of(LOG), key=lambda one: one.end_ns - one.start_ns)
    start_ns = api.get("data_skew", "timeline")["start_ms"] * NS_PER_MS
    middle = task.start_ns + (task.end_ns - task.start_ns) * 45 // 100 - start_ns
    part = api.get("data_skew", f"timeline?max=1&from_ns={middle - 5000}&to_ns={middle + 5000}")
    assert part["tasks"]["shown"] == 1
    marks = [
        (part["states"][code], length)
        for track in part["tracks"]
        for code, length, number in zip(track["code"], track["duration_ns"], track["value"])
        if number == task.task
    ]
    assert [state for state, _ in marks] == ["futex", "runnable", "running-system", "running-user"]
    assert marks[1][1] == 1000 and marks[2][1] == 500


def test_parts_that_are_none_are_refused(api: Api) -> None:
    path = f"applications/{api.apps['data_skew']}/-/timeline"
    for wrong in ("from_ns=-1", "from_ns=x", "to_ns=0", "from_ns=1&to_ns=99999999999999999999"):
        api.request(f"{path}?{wrong}", 400)
    assert "tracks" not in api.get("data_skew", "timeline?from_ns=5&to_ns=5")


def test_the_report_has_a_trace_only_if_there_is_one(tmp_path: Path) -> None:
    for source, there in ((trace_run(tmp_path / "run"), True), (PLAIN, False)):
        out = tmp_path / "report.html"
        run = conftest.run_command([str(conftest.binary_path()), "diagnose", str(source), "--format", "html", "-o", str(out)])
        assert run.exit == 0, run.explain()
        assert ('"trace": ' in conftest.unpacked(out.read_text(encoding="utf-8"))) == there
