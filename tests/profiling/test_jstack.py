"""Thread dumps of a real executor, against a reading of the same lines here."""

from __future__ import annotations

import calendar
import random
import re
import time
from pathlib import Path
from typing import List

import pytest

from profile_kit import flame, rows
from sinks_kit import sql, unpack

HEAD = "2026-11-23 22:18:08\nFull thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):\n\n"


def expected(text: str) -> List[List[str]]:
    """The samples that a file has."""
    found = []
    for dump in re.split(r"(?m)^(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$)", text)[1:]:
        ns = calendar.timegm(time.strptime(dump[:19], "%Y-%m-%d %H:%M:%S")) * 10**9
        for block in re.findall(r'(?m)^".*\n(?:[ \t].*\n)*', dump):
            name, fields = re.fullmatch(r'"(.*)" (?:#|os_prio).*?nid=(\S+) .*', block.split("\n")[0]).groups()  # type: ignore[union-attr]
            frames = re.findall(r"(?m)^\tat ([^(]*)\(([^)]*)\)", block)
            if frames:
                word = re.search(r"Thread.State: (\w+)", block)[1]  # type: ignore[index]
                state = {"RUNNABLE": "running", "BLOCKED": "blocked"}.get(word, "waiting")
                if state == "running" and frames[0][1].endswith("Native Method"):
                    state = "native"
                lines = [re.search(r":\d+$", place) for _, place in frames]
                stack = ";".join(method + (line[0] if line else "") for (method, _), line in zip(frames, lines))
                found.append(["sample", "wall", state, str(ns), "1", "", str(int(fields, 16)), name, stack])
    return found


@pytest.mark.parametrize("name", ["driver", "executor-0"])
def test_samples_are_the_threads_of_the_dumps(name: str, tmp_path: Path) -> None:
    path = unpack(tmp_path, f"{name}.jstack") / f"{name}.jstack"
    samples = [row for row in rows(path) if row[0] == "sample"]
    assert len({row[3] for row in samples}) == 3 and {row[2] for row in samples} == {"native", "waiting"}
    assert sorted(samples) == sorted(expected(path.read_text()))


def test_owners_are_tasks_of_the_event_log(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "executor-0.jstack", "driver.jstack")
    found = sql(
        folder,
        "SELECT DISTINCT owners.task, owners.method, owners.stage = tasks.stage AS same, processes.executor = tasks.executor AS place, "
        "owners.start_ns >= (launch_ms - a.start_ms - 1000) * 1000000 AND owners.end_ns <= (finish_ms - a.start_ms) * 1000000 + 1 AS inside "
        "FROM owners JOIN tasks ON tasks.id = owners.task JOIN threads ON threads.id = owners.thread "
        "JOIN threads processes ON processes.id = threads.parent, applications a",
    )
    assert len(found) >= 2 and all(row["same"] and row["place"] and row["inside"] for row in found), found
    (count,) = sql(folder, "SELECT count(*) AS tasks FROM samples WHERE task IS NOT NULL")
    assert count["tasks"] >= len(found)
    (clock,) = sql(folder, "SELECT DISTINCT source, base, method FROM clocks")
    assert clock == {"source": "jstack", "base": "local", "method": "assumed"}


def thread(fields: str, state: str = "RUNNABLE", frames: str = "\tat a.B.c(B.java:1)\n") -> str:
    return f"{fields}\n   java.lang.Thread.State: {state}\n{frames}\n"


@pytest.mark.parametrize(
    "fields, tid, name",
    [
        ('"main" #1 [8410] prio=5 os_prio=0 cpu=1.00ms tid=0x1 nid=8410 runnable', "8410", "main"),  # JDK 21
        ('"a "quoted" #7 name" #9 prio=5 tid=0x1 nid=0x1f runnable', "31", 'a "quoted" #7 name'),
        ('"Old" daemon prio=10 tid=0x1 nid=0x20 waiting on condition', "32", "Old"),  # JDK 7
    ],
)
def test_names_and_numbers(fields: str, tid: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_text(HEAD + thread(fields), encoding="ascii")
    (sample,) = [row for row in rows(path) if row[0] == "sample"]
    assert sample[6:] == [tid, name, "a.B.c:1"]


@pytest.mark.parametrize("written, state", [("RUNNABLE", "running"), ("BLOCKED (on object monitor)", "blocked"), ("NEW", "unknown")])
def test_states(written: str, state: str, tmp_path: Path) -> None:
    path = tmp_path / "dump"
    path.write_text(HEAD + thread('"main" #1 prio=5 tid=0x1 nid=0x1 runnable', written), encoding="ascii")
    assert rows(path)[0][2] == state


def test_an_idle_worker_has_no_task(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    worker = '"Executor task launch worker for task 0.0 in stage 1.0 (TID 7)" #9 daemon prio=5 tid=0x1 nid=0x1f runnable'
    path.write_text(HEAD + thread(worker), encoding="ascii")
    assert not [row for row in rows(path) if row[0] == "owner"]
    path.write_text(HEAD + thread(worker, frames="\tat org.apache.spark.executor.Executor$TaskRunner.run(Executor.scala:1)\n"), encoding="ascii")
    assert [row[3] for row in rows(path) if row[0] == "owner"] == ["7"]


def test_a_flame_graph_of_dumps(tmp_path: Path) -> None:
    path = unpack(tmp_path, "executor-0.jstack") / "executor-0.jstack"
    target = tmp_path / "wall.folded"
    assert flame("--event", "wall", path, "-o", target).exit == 0
    weights = sum(int(line.rpartition(" ")[2]) for line in target.read_text().splitlines())
    assert weights == len(expected(path.read_text()))
    assert flame("--task", "1", path, "-o", target).exit == 0
    assert all("$TaskRunner" in line for line in target.read_text().splitlines())


def test_damaged_dumps_never_crash(tmp_path: Path) -> None:
    text = (unpack(tmp_path, "executor-0.jstack") / "executor-0.jstack").read_bytes()[:9000]
    generator = random.Random(3)
    path = tmp_path / "dump"
    for _ in range(60):
        damaged = bytearray(text[: generator.randrange(200, len(text))])
        for _ in range(generator.randrange(0, 20)):
            damaged[generator.randrange(150, len(damaged))] = generator.randrange(1, 128)
        path.write_bytes(damaged)
        assert rows(path)[-2][1] == "jstack"
