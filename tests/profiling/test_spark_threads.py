"""Dumps of threads that Spark's REST API made of a real driver and executor, against a reading of the same JSON here."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any, List

import pytest

from conftest import ROOT
from profile_kit import flame, rows
from sinks_kit import sql

RECORDED = ROOT / "tests" / "artefacts" / "threads"
STATES = {"RUNNABLE": "running", "BLOCKED": "blocked", "WAITING": "waiting", "TIMED_WAITING": "waiting"}


def frame(element: str) -> str:
    """CLASS.METHOD[:LINE] of an element of Java's, without its loader and module, and without the locks behind it."""
    place = re.fullmatch(r"(?s)(?:[^$(/]*/)*([^(]*)\(([^)]*)\).*", element)
    assert place is not None, element
    line = re.search(r":\d+$", place[2])
    return place[1] + (line[0] if line else "")


def expected(threads: Any) -> List[List[str]]:
    """The samples that a dump has."""
    found = []
    for thread in threads:
        elements = thread["stackTrace"]["elems"]
        if elements:
            state = STATES.get(thread["threadState"], "")
            if state == "running" and "(Native Method)" in elements[0]:
                state = "native"
            stack = ";".join(map(frame, elements))
            found.append(["sample", "wall", state, "", "1", "", str(thread["threadId"]), thread["threadName"], stack])
    return found


def samples(path: Path) -> List[List[str]]:
    return [row for row in rows(path) if row[0] == "sample"]


@pytest.mark.parametrize("name", ["driver", "executor-0"])
def test_samples_are_the_threads_of_the_answer(name: str) -> None:
    path = RECORDED / f"{name}-threads.json.gz"
    found = samples(path)
    assert sorted(found) == sorted(expected(json.loads(gzip.decompress(path.read_bytes()))))
    assert len(found) > 20 and {"waiting", "native"} <= {row[2] for row in found}


def test_they_belong_to_the_run(tmp_path: Path) -> None:
    shutil.copytree(RECORDED, tmp_path / "run")
    found = sql(tmp_path / "run", "SELECT kind, executor, problems FROM artefacts ORDER BY executor")
    assert [(one["kind"], one["executor"], one["problems"]) for one in found] == [
        ("spark-threads", "0", None), ("spark-threads", "driver", None)]
    workers = sql(
        tmp_path / "run",
        "SELECT threads.name, processes.executor, samples.time_ns, samples.task FROM samples JOIN threads ON threads.id = samples.thread "
        "JOIN threads processes ON processes.id = threads.parent WHERE threads.name LIKE '%(TID %' ORDER BY 1",
    )
    assert [one["name"][-8:] for one in workers] == [" (TID 0)", " (TID 1)"]
    assert all((one["executor"], one["time_ns"], one["task"]) == ("0", None, None) for one in workers)


THREAD = {"threadId": 7, "threadName": 'a "b" \u00e9', "threadState": "BLOCKED", "stackTrace": {"elems": []}, "isDaemon": True}


@pytest.mark.parametrize(
    "element, wanted",
    [
        ("a.B.c(B.java:1)", "a.B.c:1"),
        ("java.base@17.0.15/java.lang.Thread.sleep(Native Method)", "java.lang.Thread.sleep"),
        ("app//a.B.c(B.scala:12)", "a.B.c:12"),
        ("a.B$$Lambda$12/0x00007f.apply(Unknown Source)", "a.B$$Lambda$12/0x00007f.apply"),
        ("a.B.c(B.java:1)\n\t-  waiting on java.lang.Object@1", "a.B.c:1"),
        ("a.B.c(B.java:1) => holding Monitor(java.lang.Object@1)", "a.B.c:1"),
        ("odd", "odd"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_frames(tmp_path: Path, element: str, wanted: str, indent: Any) -> None:
    path = tmp_path / "threads"
    path.write_text(json.dumps([{**THREAD, "stackTrace": {"elems": [element, "d.E.f(E.java:2)"]}}], indent=indent), "utf-8")
    (one,) = samples(path)
    assert one[2] == "blocked" and one[6:] == ["7", 'a "b" \u00e9', f"{wanted};d.E.f:2"]


def test_torn_and_odd_answers(tmp_path: Path) -> None:
    threads = [{**THREAD, "threadId": n, "stackTrace": {"elems": ["a.B.c(B.java:1)"] * 3}} for n in range(40)]
    whole = json.dumps(threads)
    path = tmp_path / "threads"
    for end in (len(whole) - 1, len(whole) // 2, 9000):
        path.write_text(whole[:end], "ascii")
        found = samples(path)
        assert found == expected(threads)[: len(found)] and len(found) in (40, 39, len(threads) * end // len(whole))
    for odd in ("[{\"threadId\":1,\"threadState\":null,\"stackTrace\":null}]", "[{\"threadId\":\"x\",\"threadState\":{}}]"):
        path.write_text(odd, "ascii")
        assert samples(path) == []
    path.write_text("[1, 2]", "ascii")
    assert b"is not a profile" in flame(path, "-o", tmp_path / "x.folded").err
