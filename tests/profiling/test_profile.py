"""pyrometer profile: its numbers against a plain reading of the same records, its picture, its choices, and what is refused."""

from __future__ import annotations

import copy
import gzip
import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from conftest import ROOT, Run, binary_path, run_command
from schemas import validate

from profile_kit import RECORDED
from test_jfr import RECORDINGS, expected_of, expected_sample, is_sample
from test_records import START, TASK_FRAMES, stack, write

sys.path.insert(0, str(ROOT / "tests" / "e2e"))  # its reading of logs of garbage collectors

from test_bundles import collections_of, gc_logs  # noqa: E402

GC = ROOT / "tests" / "artefacts" / "gc"


def profile(*arguments: Any) -> Run:
    return run_command([str(binary_path()), "profile", *map(str, arguments)])


def document(*arguments: Any) -> Dict[str, Any]:
    run = profile(*arguments, "-f", "json")
    assert run.exit == 0, run.explain()
    validate(run.json)
    return run.json


def memory(at: int, heap: int, **members: Any) -> Dict[str, Any]:
    """A record of CpuAndMemory as Uber's profiler writes it."""
    return {
        "epochMillis": START + at, "heapMemoryTotalUsed": heap, "heapMemoryCommitted": 4000, "nonHeapMemoryTotalUsed": 90.5,
        "processCpuLoad": 0.25, "systemCpuLoad": 0.5, "vmRSS": 9000 + at, "name": "910@node-1", "host": "node-1", "role": "executor",
        "processUuid": "c15f66fa", "gc": [{"name": "G1 Young", "collectionTime": at // 10, "collectionCount": at // 1000}], **members,
    }


RECORDS = [
    stack(["c", "b", "a"], 5),
    stack(["d", "b", "a"], 3, threadState="WAITING", threadName="idle"),
    stack(["b", "b", "a"], 2, startEpoch=START + 2000, endEpoch=START + 3000),
    stack(["c", "a"], 1, threadState="BLOCKED", startEpoch=START + 2000, endEpoch=START + 3000),
    stack(TASK_FRAMES, 4, threadName="Executor task launch worker for task 0.0 in stage 3.0 (TID 5)"),
    stack(TASK_FRAMES, 4, threadName="Executor task launch worker for task 1.0 in stage 3.0 (TID 6)", startEpoch=START + 2000,
          endEpoch=START + 4000),
]


def top_methods(records: List[Dict[str, Any]]) -> Dict[Tuple[str, str], Tuple[int, int, int]]:
    """self, waiting and total of each event and function, by a plain reading."""
    own: Counter[Tuple[str, str]] = Counter()
    waiting: Counter[Tuple[str, str]] = Counter()
    total: Counter[Tuple[str, str]] = Counter()
    for record in records:
        event = "cpu" if record["threadState"] == "RUNNABLE" else "wall"
        own[event, record["stacktrace"][0]] += record["count"]
        if event == "wall":
            waiting[event, record["stacktrace"][0]] += record["count"]
        for frame in set(record["stacktrace"]):
            total[event, frame] += record["count"]
    return {key: (own[key], waiting[key], total[key]) for key in total}


def test_records_of_ubers_profiler(tmp_path: Path) -> None:
    write(tmp_path / "Stacktrace.json", RECORDS)
    points = [memory(0, 100), memory(1000, 3000), memory(2000, 700), memory(4000, 2999)]
    write(tmp_path / "CpuAndMemory.json", points)
    found = document(tmp_path)
    (process,) = found["processes"]
    assert (process["pid"], process["host"], process["samples"]) == (910, "node-1", sum(record["count"] for record in RECORDS))
    rows = {(row["event"], row["function"]): (row["self"], row["waiting"], row["total"]) for row in found["top_methods"]}
    assert rows == top_methods(RECORDS)
    order = [(row["event"], -row["self"], -row["total"], row["function"]) for row in found["top_methods"]]
    assert order == sorted(order)
    weights = {"cpu": 15, "wall": 4}
    assert all(abs(row["self_share"] * weights[row["event"]] - row["self"]) < 1e-9 for row in found["top_methods"])
    maxima = {row["name"]: (row["value"], row["time_ms"]) for row in found["maxima"]}
    assert maxima["heap.used"] == (3000, START + 1000)
    assert maxima["process.rss"] == (13000, START + 4000)
    assert maxima["gc.time"] == (400, START + 4000)
    (heap,) = [row for row in found["series"] if row["name"] == "heap.used"]
    assert heap["time_ms"] == [point["epochMillis"] for point in points]
    assert heap["value"] == [point["heapMemoryTotalUsed"] for point in points]
    assert [(row["id"], row["stage"], row["process"], row["start_ms"]) for row in found["tasks"]] == [
        (5, 3, 0, START), (6, 3, 0, START + 2000)]
    assert [(row["id"], row["attempt"], row["start_ms"], row["end_ms"]) for row in found["stages"]] == [
        (3, 0, START, START + 4000)]
    assert (found["start_ms"], found["end_ms"]) == (START, START + 4000)
    assert {row["kind"] for row in found["files"]} == {"uber"} and len(found["files"]) == 2
    assert found["jobs"] == found["findings"] == []


def test_text_logs_have_jobs_stages_and_tasks(tmp_path: Path) -> None:
    """Those that `logs timeline` finds, where there is no event log."""
    lines = ["INFO SparkContext:54 - Submitted application: Sums", "INFO DAGScheduler:54 - Got job 0 (collect at sums.py:7) with 2 output partitions",
             "INFO Executor:54 - Running task 0.0 in stage 0.0 (TID 0)", "INFO Executor:54 - Running task 1.0 in stage 0.0 (TID 1)",
             "INFO Executor:54 - Finished task 0.0 in stage 0.0 (TID 0). 900 bytes result sent to driver",
             "INFO Executor:54 - Finished task 1.0 in stage 0.0 (TID 1). 900 bytes result sent to driver",
             "INFO DAGScheduler:54 - Job 0 finished: collect at sums.py:7, took 4.0 s"]  # fmt: skip
    log = tmp_path / "driver.log"
    log.write_text("".join(f"2019-02-14 10:10:0{second} {line}\n" for second, line in enumerate(lines)))
    found = document(log)
    timeline = run_command([str(binary_path()), "logs", "timeline", str(log), "--format", "json"]).json
    for kind, count in (("jobs", 1), ("stages", 1), ("tasks", 2)):
        times = [(row["id"], row["start_ms"], row["end_ms"]) for row in found[kind]]
        assert times == [(row["id"], row["start_ms"], row["end_ms"]) for row in timeline[kind]] and len(times) == count
    assert [row["name"] for row in found["jobs"]] == ["collect at sums.py:7"]
    page = profile(log, "--format", "html").out.decode()
    assert "task 1, stage 0" in page and "Stage 0" in page
    assert "1 job, 1 stage, 2 tasks" in profile(log).out.decode()


def test_choices(tmp_path: Path) -> None:
    write(tmp_path / "Stacktrace.json", RECORDS)
    write(tmp_path / "CpuAndMemory.json", [memory(0, 3 << 19), memory(60_000, 5 << 19)])
    write(tmp_path / "other.json", [memory(0, 5, name="911@node-1"), memory(1000, 6, name="911@node-1")])
    assert {row["name"] for row in document(tmp_path, "--metric", "heap")["series"]} == {
        "heap.used", "heap.committed", "non_heap.used"}
    assert {row["name"] for row in document(tmp_path, "-m", "heap", "-m", "rss", "--ignore", "non_heap", "-i", "committed")["maxima"]} == {
        "heap.used", "process.rss"}
    other = document(tmp_path, "--process", "911")
    assert [row["pid"] for row in other["processes"]] == [911]
    assert {row["process"] for row in other["series"]} == {0} and other["top_methods"] == other["tasks"] == []
    assert max(row["value"] for row in other["maxima"] if row["name"] == "heap.used") == 6
    assert document(tmp_path, "--process", "process 911") == other
    run = profile(tmp_path, "--process", "7")
    assert (run.exit, "there is no process '7'" in run.err.decode()) == (2, True)
    for choice, count in ((["--task", "5"], 4), (["--stage", "3", "--process", "910"], 8)):
        chosen = document(tmp_path, *choice)
        (samples,) = [row for row in chosen["samples"] if row["event"] == "cpu"]
        assert (samples["weight"], samples["left_out"]) == (count, 7)
        assert {(row["function"], row["total"]) for row in chosen["top_methods"]} == {(frame, count) for frame in TASK_FRAMES}
    assert "7 samples (cpu) name no task for certain" in profile(tmp_path, "--task", "5").out.decode()
    assert profile(tmp_path, "--task", "five").exit == 2
    normal = document(tmp_path, "--normalize", "--metric", "heap.used", "--ignore", "non", "--process", "910")
    (row,) = normal["series"]
    assert (row["unit"], row["value"], row["time_min"]) == ("MiB", [1.5, 2.5], [0, 1])
    (most,) = normal["maxima"]
    assert (most["unit"], most["value"], most["time_min"]) == ("MiB", 2.5, 1)
    assert "2.50 MiB" in profile(tmp_path, "--normalize", "--process", "910").out.decode()


def test_kind_if_the_content_does_not_say_it(tmp_path: Path) -> None:
    log = tmp_path / "console.txt"
    log.write_text("some words that no log begins with\n" * 3 + "[2026-03-01T10:15:02.100+0000][info][gc] GC(0) Pause Young (Normal) "
                   "(G1 Evacuation Pause) 23M->4M(252M) 12.500ms\n")
    found = document(log, "--kind", "gc-log")
    assert [row["kind"] for row in found["files"]] == ["gc-log"]
    assert [(row["gc_pauses"], row["gc_pause_ms"]) for row in found["processes"]] == [(1, 12.5)]


def plain(frame: str) -> str:
    return re.sub(r":\d+$", "", frame)


@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_equal_the_events(name: str) -> None:
    """Methods, allocations and pauses, against the events as the JDK's own tool prints them."""
    found = document(RECORDED / f"{name}.jfr.gz")
    events = expected_of(name)
    if any(event["type"] == "jdk.CPUTimeSample" for event in events):  # says the same better
        events = [event for event in events if event["type"] != "jdk.ExecutionSample"]
    own: Dict[str, Counter[str]] = {event: Counter() for event in ("cpu", "wall", "lock", "wait")}
    waiting, total = copy.deepcopy(own), copy.deepcopy(own)
    allocated: Counter[Tuple[str, Any]] = Counter()
    for event, state, _, weight, _, _, stack_text in map(expected_sample, filter(is_sample, events)):
        frames = [plain(frame) for frame in stack_text.split(";") if frame]
        if event == "alloc":
            allocated[frames[0], frames[1] if len(frames) > 1 else None] += int(weight)
        elif frames:
            own[event][frames[0]] += int(weight)
            waiting[event][frames[0]] += int(weight) if state in ("waiting", "blocked") else 0
            for frame in set(frames):
                total[event][frame] += int(weight)
    for event in own:
        rows = [row for row in found["top_methods"] if row["event"] == event]
        assert len(rows) == min(30, len(total[event]))
        for row in rows:
            method = row["function"]
            assert (row["self"], row["waiting"], row["total"]) == (own[event][method], waiting[event][method], total[event][method])
        ranks = sorted(((own[event][method], total[event][method]) for method in total[event]), reverse=True)
        assert [(row["self"], row["total"]) for row in rows] == ranks[:30]
    got = {(row["class"], row["function"]): row["bytes"] for row in found["top_allocations"]}
    assert got == {key: allocated[key] for key in got} and len(got) == min(30, len(allocated))
    assert sorted(got.values(), reverse=True) == sorted(allocated.values(), reverse=True)[:30]
    pauses = [event["duration"] for event in events if event["type"] == "jdk.GCPhasePause"]
    (process,) = found["processes"]
    assert process["gc_pauses"] == len(pauses)
    assert process["gc_pause_ms"] == pytest.approx(sum(pauses) / 1e6)
    assert process["gc_longest_pause_ms"] == pytest.approx(max(pauses, default=0) / 1e6)


@pytest.mark.parametrize("name", ["g1", "zgc"])
def test_a_folder_with_its_event_log(name: str) -> None:
    """Pauses against the lines; jobs, stages and tasks against the event log."""
    found = document(GC / name)
    logs = gc_logs(GC / name)
    assert [process["name"] for process in found["processes"]] == [f"executor {executor}" for executor in sorted(logs)]
    for process in found["processes"]:
        pauses = [row.duration_ns for row in collections_of(logs[process["executor"]]) if row.pause]
        assert (process["gc_pauses"], round(process["gc_pause_ms"] * 1e6)) == (len(pauses), sum(pauses))
        assert round(process["gc_longest_pause_ms"] * 1e6) == max(pauses)
    (log,) = [path for path in (GC / name).iterdir() if ".gc" not in path.name]
    tables = {
        table: json.loads(run_command([str(binary_path()), "sql", str(log), f"SELECT * FROM {table}", "-f", "json"]).out)
        for table in ("tasks", "stages", "jobs")
    }
    place = {process["executor"]: process["id"] for process in found["processes"]}
    assert sorted((row["id"], row["stage"], row["process"], row["start_ms"], row["end_ms"]) for row in found["tasks"]) == sorted(
        (row["id"], row["stage"], place[row["executor"]], row["launch_ms"], row["finish_ms"]) for row in tables["tasks"])
    assert sorted((row["id"], row["attempt"], row["start_ms"], row["end_ms"]) for row in found["stages"]) == sorted(
        (row["id"], row["attempt"], row["submitted_ms"], row["completed_ms"])
        for row in tables["stages"] if row["submitted_ms"] is not None)
    assert [(row["id"], row["start_ms"]) for row in found["jobs"]] == [(row["id"], row["submitted_ms"]) for row in tables["jobs"]]
    report = run_command([str(binary_path()), "diagnose", str(GC / name), "-f", "json"]).json
    assert [row["id"] for row in found["findings"]] == [row["id"] for row in report["findings"]]
    only = document(GC / name, "--process", "1")
    assert {row["process"] for row in only["tasks"]} == {0} and only["processes"][0]["executor"] == "1"


def test_files_of_one_executor_are_one_process(tmp_path: Path) -> None:
    """The log of its garbage collector and its recording, and its Python worker apart."""
    run = tmp_path / "app-20240301101500-0000"
    run.mkdir()
    (run / "exec-3.gc").write_text("[2026-03-01T10:15:02.100+0000][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) "
                                   "23M->4M(252M) 12.500ms\n")
    shutil.copy(RECORDED / "jdk17.jfr.gz", run / "profile-exec-3.jfr.gz")
    write(run / "executor-3-workers.json", [
        {"stacktrace": ["/x/job.py:f:9"], "count": 2, "epochMillis": START, "pid": 12, "host": "node-1", "stageId": 0}])
    write(run / "driver.json", [stack(["d"], 1, role="driver")])
    processes = document(run)["processes"]
    assert [row["name"] for row in processes] == ["driver", "executor 3", "executor 3, Python worker process 12"]
    # The recording has three pauses of its own: those of the log count, and nothing twice.
    assert [(row["gc_pauses"], row["gc_pause_ms"]) for row in processes] == [(0, 0), (1, 12.5), (0, 0)]


# ---- The picture -----------------------------------------------------------------------------------------------------


def page_of(target: Path, *arguments: Any) -> str:
    run = profile(*arguments, "-o", target)
    assert (run.exit, run.out, run.err) == (0, b"", b""), run.explain()
    return target.read_text()


def test_the_picture_has_every_panel_and_loads_nothing(tmp_path: Path) -> None:
    write(tmp_path / "Stacktrace.json", RECORDS)
    write(tmp_path / "CpuAndMemory.json", [memory(0, 100), memory(1000, 3000), memory(4000, 2999)])
    page = page_of(tmp_path / "profile.html", tmp_path)
    assert not re.search(r"https?://|src=|href=|@import|url\(", page)
    for title in ("Stages", "Running tasks", "Heap", "Outside the heap", "Resident memory", "CPU, share of all cores", "Time in collections",
                  "Tasks"):
        assert f"<figcaption>{title}" in page
    # The heap's line: its times and values on the axis of 4 seconds, 94 of 100 units high.
    line = re.search(r"<figcaption>Heap.*?<path class=\"c0\" d=\"(.*?)\"/>", page, re.S)
    assert line
    points = [tuple(map(float, point.split())) for point in re.split("[ML]", line.group(1)) if point]
    assert points == [(0, pytest.approx(100 - 94 * 100 / 4000, abs=0.06)), (250, pytest.approx(100 - 94 * 3000 / 4000, abs=0.06)),
                      (1000, pytest.approx(100 - 94 * 2999 / 4000, abs=0.06))]
    assert "<title>task 5, stage 3</title>" in page


def test_the_picture_of_hostile_names(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\"'"
    write(tmp_path / "Stacktrace.json", [stack([evil, "a"], 5, host=evil)])
    page = page_of(tmp_path / "profile.html", tmp_path / "Stacktrace.json")
    assert evil not in page and "&lt;script&gt;alert(1)" in page
    assert page.count("<script>") == 1


def test_numbers_that_nobody_measured(tmp_path: Path) -> None:
    write(tmp_path / "CpuAndMemory.json", [memory(0, 10**300, processCpuLoad=1e308), memory(1000, -(10**300), processCpuLoad=-1e308),
                                           memory(2000, 5, processCpuLoad=1e-300)])
    document(tmp_path)
    assert profile(tmp_path, "--details").exit == profile(tmp_path, "--normalize").exit == 0
    page = page_of(tmp_path / "profile.html", tmp_path)
    assert "nan" not in page and "inf" not in page.replace("inherit", "")


def test_the_same_bytes(tmp_path: Path) -> None:
    first = page_of(tmp_path / "a.html", GC / "g1")
    assert page_of(tmp_path / "b.html", GC / "g1", "--threads", "1") == first
    assert profile(GC / "g1", "-f", "json").out == profile(GC / "g1", "-f", "json", "--threads", "1").out


def test_records_without_times_have_tables_only(tmp_path: Path) -> None:
    path = tmp_path / "stacks.folded"
    path.write_text("a;b 3\na;c 1\n")
    found = document(path)
    assert (found["start_ms"], found["series"], found["spans"]) == (None, [], [])
    assert {(row["function"], row["self"], row["total"]) for row in found["top_methods"]} == {("b", 3, 3), ("c", 1, 1), ("a", 0, 4)}
    page = page_of(tmp_path / "profile.html", path)
    assert "<figure" not in page and "75 %" in page


SERIALIZED = [
    stack(["com.esotericsoftware.kryo.io.Output.writeInt", "com.esotericsoftware.kryo.Kryo.writeObject",
           "org.apache.spark.serializer.KryoSerializationStream.writeObject", *TASK_FRAMES[1:]], 4),
    stack(["java.io.ObjectOutputStream.writeObject0", "org.apache.spark.serializer.JavaSerializationStream.writeObject",
           *TASK_FRAMES[1:]], 2),
    stack(["org.apache.spark.sql.execution.UnsafeRowSerializerInstance$$anon$1.writeKey", *TASK_FRAMES[1:]], 1),
    stack(["com.acme.Words.next", "org.apache.spark.serializer.SerializationStream.writeAll", *TASK_FRAMES[1:]], 9),
]


def test_serializers_by_stage(tmp_path: Path) -> None:
    """Kryo and Java below Spark's serializers count for themselves; what an iterator runs counts for none."""
    name = "Executor task launch worker for task {}.0 in stage {}.0 (TID {})"
    path = write(tmp_path / "Stacktrace.json", [
        *({**record, "threadName": name.format(0, 3, 5)} for record in SERIALIZED),
        {**SERIALIZED[0], "threadName": name.format(0, 4, 6), "threadState": "WAITING"},
        {**SERIALIZED[3], "threadName": name.format(0, 7, 8)},
    ])
    found = document(path)
    rows = [(row["stage"], row["event"], row["weight"], row["spark"], row["java"], row["kryo"]) for row in found["serialization"]]
    assert rows == [(3, "cpu", 16, 1, 2, 4), (4, "wall", 4, 0, 0, 4)]
    assert [row["share"] for row in found["serialization"]] == pytest.approx([7 / 16, 1])
    assert [row["stage"] for row in document(path, "--stage", 4)["serialization"]] == [4]
    text = profile(path).out.decode()
    assert re.search(r"SERIALIZATION\n.*\n +44 % +6\S* % +1[23]\S* % +25 % +cpu +3\n", text), text


# ---- What is refused -------------------------------------------------------------------------------------------------


def test_text_summary(tmp_path: Path) -> None:
    write(tmp_path / "Stacktrace.json", RECORDS)
    write(tmp_path / "CpuAndMemory.json", [memory(0, 2 << 20), memory(1000, 5 << 20)])
    text = profile(tmp_path, "--width", 120).out.decode()
    assert re.search(r"process 910 +5 MiB", text) and "TOP METHODS (wall)" in text
    assert "heap.committed" not in text and "heap.committed" in profile(tmp_path, "--details").out.decode()


def test_without_anything_to_read(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("nothing\n")
    run = profile(tmp_path)
    assert (run.exit, run.out) == (3, b"") and b"no record of a profiler" in run.err
    assert profile(tmp_path / "absent").exit == 3
    log = next(path for path in (GC / "g1").iterdir() if ".gc" not in path.name)
    run = profile(log)
    assert run.exit == 3 and b"that belongs to this application" in run.err
    run = profile(tmp_path / "notes.md", "-o", tmp_path / "never.html")
    assert run.exit == 3 and not (tmp_path / "never.html").exists()


def test_two_event_logs(tmp_path: Path) -> None:
    run = profile(GC / "g1", GC / "zgc", "-o", tmp_path / "never.html")
    assert run.exit == 2 and b"several event logs" in run.err


def test_damaged_files_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    whole = gzip.decompress((RECORDED / "jdk17.jfr.gz").read_bytes())
    (tmp_path / "torn.jfr").write_bytes(whole[: len(whole) * 2 // 3])
    (tmp_path / "torn.json.gz").write_bytes(gzip.compress(("\n".join(map(json.dumps, RECORDS)) + "\n").encode() * 300)[:-40])
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 20)
    found = document(tmp_path)
    problems = {Path(row["path"]).name: row["problems"] for row in found["files"]}
    assert set(problems) == {"torn.jfr", "torn.json.gz"} and all(problems.values())
    assert {row["language"] for row in found["top_methods"]} >= {"java"}
    assert "PROBLEMS" in profile(tmp_path).out.decode()


@pytest.mark.parametrize("arguments", [["--kind", "heap"], ["-f", "csv"], ["--width", "7"], []])
def test_wrong_usage(arguments: List[str]) -> None:
    assert profile(*arguments, *([GC / "g1"] if arguments else [])).exit == 2
