"""Recordings of Java Flight Recorder and async-profiler: every decoded event against what the JDK's own tool prints, and
recordings made here in forms that no JVM at hand writes."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List

import pytest

from jfr_writer import START_NS, START_TICKS, Chunk, example
from profile_kit import RECORDED, flame, folded, rows, unpacked

RECORDINGS = sorted(path.name[: -len(".jfr.gz")] for path in RECORDED.glob("*.jfr.gz"))
PLAIN = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long", "S": "short", "Z": "boolean"}
SPANS = {
    "jdk.JavaMonitorEnter": "lock-wait",
    "jdk.JavaMonitorWait": "monitor-wait",
    "jdk.ThreadPark": "park",
    "jdk.ThreadSleep": "sleep",
    "jdk.FileRead": "file-read",
    "jdk.FileWrite": "file-write",
    "jdk.SocketRead": "socket-read",
    "jdk.SocketWrite": "socket-write",
    "jdk.GarbageCollection": "gc",
    "jdk.GCPhasePause": "gc-pause",
    "profiler.Span": "profiler-span",
}
ALLOCATIONS = {"jdk.ObjectAllocationSample": "weight", "jdk.ObjectAllocationInNewTLAB": "tlabSize", "jdk.ObjectAllocationOutsideTLAB": "allocationSize"}
WAITS = ("jdk.JavaMonitorWait", "jdk.ThreadPark", "jdk.ThreadSleep", "jdk.File", "jdk.Socket")
WAITING = {"SLEEP", "WAIT", "PARK"}


def expected_of(name: str) -> List[Dict[str, Any]]:
    document = json.loads(gzip.decompress((RECORDED / f"{name}.expected.json.gz").read_bytes()))
    for event in document["events"]:
        event["frames"] = document["stacks"][event["stack"]] if "stack" in event else []
    return document["events"]


def class_of(name: str) -> str:
    """As Java writes it."""
    element = name.lstrip("[")
    dimensions = len(name) - len(element)
    if dimensions:
        element = PLAIN.get(element) or element[1:-1]
    return element.replace("/", ".") + "[]" * dimensions


def frames_of(event: Dict[str, Any]) -> List[str]:
    texts = []
    for kind, method, line in event["frames"]:
        function = ".".join(part for part in (class_of(kind), method) if part) or "[unknown]"
        texts.append(function + (f":{line}" if line > 0 else ""))
    return texts


def state_of(event: Dict[str, Any]) -> str:
    state = event.get("state", "")
    if "RUNNABLE" in state:
        return "running"
    if "BLOCKED" in state:
        return "blocked"
    return "waiting" if any(word in state for word in WAITING) else "unknown"


def thread_of(event: Dict[str, Any]) -> List[str]:
    if "thread" not in event:
        return ["", ""]
    number, name = event["thread"]
    return [str(number) if number > 0 else "", name or ""]


def expected_sample(event: Dict[str, Any]) -> List[str]:
    """event, state, time, weight, thread, stack"""
    kind, frames, weight = event["type"], frames_of(event), 1
    state = state_of(event)
    if kind == "jdk.ExecutionSample":
        what = "wall" if state in ("waiting", "blocked") else "cpu"
    elif kind == "jdk.CPUTimeSample":
        what, state = "cpu", "running"
    elif kind == "jdk.NativeMethodSample":
        what, state = "wall", "native"
    elif kind == "profiler.WallClockSample":
        what, weight = "wall", event["samples"]
    elif kind == "jdk.JavaMonitorEnter":
        what, state, weight = "lock", "blocked", event["duration"]
    elif kind.startswith(WAITS):
        what, state, weight = "wait", "waiting", event["duration"]
    else:
        what, state, weight = "alloc", "running", event[ALLOCATIONS[kind]]
        frames = [class_of(event["class"]), *frames]
    return [what, state, str(event["startTime"]), str(weight), *thread_of(event), ";".join(frames)]


def is_sample(event: Dict[str, Any]) -> bool:
    if event["type"].startswith(WAITS):
        return bool(event["frames"])
    return event["type"] in ALLOCATIONS or event["type"] == "jdk.JavaMonitorEnter" or event["type"].endswith("Sample")


def expected_span(event: Dict[str, Any]) -> List[str]:
    """kind, time, duration, thread, name; what collections freed comes from other events. The JVM's own threads collect."""
    kind = event["type"]
    if kind == "jdk.GarbageCollection":
        name = f"{event['name']} ({event['cause']})"
    elif kind.startswith("jdk.Socket"):
        name = f"{event['host'] or event['address']}:{event['port']}"
    else:
        name = event.get("path") or event.get("tag") or event.get("name") or class_of(event.get("class", ""))
    thread = ["", ""] if SPANS[kind].startswith("gc") else thread_of(event)
    return [SPANS[kind], str(event["startTime"]), str(event.get("duration", 0)), *thread, name]


@pytest.mark.parametrize("name", RECORDINGS)
def test_samples_are_those_of_the_jdk(name: str) -> None:
    got = Counter(tuple([*row[1:5], *row[6:9]]) for row in rows(RECORDED / f"{name}.jfr.gz") if row[0] == "sample")
    events = [event for event in expected_of(name) if is_sample(event)]
    if any(event["type"] == "jdk.CPUTimeSample" for event in events):  # both measure the same time
        events = [event for event in events if event["type"] != "jdk.ExecutionSample"]
    assert got == Counter(tuple(expected_sample(event)) for event in events)


@pytest.mark.parametrize("name", RECORDINGS)
def test_spans_are_those_of_the_jdk(name: str) -> None:
    events = expected_of(name)
    found = [row for row in rows(RECORDED / f"{name}.jfr.gz") if row[0] == "span"]
    got = Counter(tuple([row[1], row[2], row[3], *row[6:8], row[8]]) for row in found)
    assert got == Counter(tuple(expected_span(event)) for event in events if event["type"] in SPANS)
    moved = Counter((row[1], row[2], row[4]) for row in found if row[1].startswith(("file", "socket")))
    assert moved == Counter(
        (SPANS[event["type"]], str(event["startTime"]), str(event.get("bytesRead", event.get("bytesWritten"))))
        for event in events
        if event["type"].startswith(("jdk.File", "jdk.Socket"))
    )


@pytest.mark.parametrize("name", RECORDINGS)
def test_freed_bytes_are_those_of_the_jdk(name: str) -> None:
    events = expected_of(name)
    heap = {(event["gcId"], event["when"]): event["heapUsed"] for event in events if event["type"] == "jdk.GCHeapSummary"}
    freed = {}
    for event in events:
        if event["type"] == "jdk.GarbageCollection":
            before, after = heap.get((event["gcId"], "Before GC")), heap.get((event["gcId"], "After GC"))
            freed[str(event["startTime"])] = "" if before is None or after is None else str(before - after)
    assert {row[2]: row[4] for row in rows(RECORDED / f"{name}.jfr.gz") if row[0] == "span" and row[1] == "gc"} == freed


@pytest.mark.parametrize("name", RECORDINGS)
def test_series_are_those_of_the_jdk(name: str) -> None:
    wanted = []
    for event in expected_of(name):
        at, thread = str(event["startTime"]), thread_of(event)
        if event["type"] == "jdk.CPULoad":
            wanted.append(("cpu.process", at, event["jvmUser"] + event["jvmSystem"], "", ""))
            wanted.append(("cpu.process.system", at, event["jvmSystem"], "", ""))
            wanted.append(("cpu.system", at, event["machineTotal"], "", ""))
        elif event["type"] == "jdk.ThreadCPULoad":
            wanted.append(("cpu.thread.user", at, event["user"], *thread))
            wanted.append(("cpu.thread.system", at, event["system"], *thread))
        elif event["type"] == "jdk.GCHeapSummary":
            wanted.append(("heap.used", at, event["heapUsed"], "", ""))
            wanted.append(("heap.committed", at, event["committedSize"], "", ""))
    got = [(row[1], row[3], float(row[4]), row[6], row[7]) for row in rows(RECORDED / f"{name}.jfr.gz") if row[0] == "point"]
    assert len(got) == len(wanted)
    for one, other in zip(sorted(got), sorted(wanted)):
        assert one[:2] == other[:2] and one[3:] == other[3:]
        assert one[2] == pytest.approx(other[2], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", RECORDINGS)
def test_nothing_is_unknown(name: str) -> None:
    found = rows(RECORDED / f"{name}.jfr.gz")
    pids = {str(event["pid"]) for event in expected_of(name) if event["type"] == "jdk.JVMInformation"}
    assert {row[5] for row in found if row[0] == "sample"} == pids
    (artefact,), (facts,) = ([row for row in found if row[0] == kind] for kind in ("artefact", "facts"))
    assert artefact[1] == "jfr" and artefact[5] == ("131 samples that are not read (jdk.ExecutionSample, measured by jdk.CPUTimeSample)" if name == "jdk25cpu" else "")
    assert (facts[2], facts[4]) == ("0", "0")


def test_recordings_have_every_event() -> None:
    """What is decoded is recorded: otherwise the comparisons above would prove nothing."""
    kinds = {event["type"] for name in RECORDINGS for event in expected_of(name)}
    wanted = {*SPANS, *ALLOCATIONS, "jdk.ExecutionSample", "jdk.CPUTimeSample", "jdk.NativeMethodSample", "profiler.WallClockSample"}
    wanted |= {"jdk.GCHeapSummary", "jdk.CPULoad", "jdk.ThreadCPULoad", "jdk.JVMInformation"}
    assert wanted - kinds <= {"profiler.Span"}  # made below: async-profiler writes it for programs that mark spans


def test_flame_of_a_recording(tmp_path: Path) -> None:
    path = RECORDED / "jdk17.jfr.gz"
    events = expected_of("jdk17")
    out = tmp_path / "o.folded"
    weights = {
        "cpu": sum(event["type"] == "jdk.ExecutionSample" for event in events),
        "alloc": sum(event[ALLOCATIONS[event["type"]]] for event in events if event["type"] in ALLOCATIONS),
        "lock": sum(event["duration"] for event in events if event["type"] == "jdk.JavaMonitorEnter"),
    }
    for event, weight in weights.items():
        assert sum(count for _, count in folded(out, path, "--event", event)) == weight
    assert sum(count for _, count in folded(out, path)) == weights["cpu"]
    assert any(stack.endswith("byte[]") for stack, _ in folded(out, path, "--event", "alloc"))
    assert any("ProfiledWork.compute" in stack for stack, _ in folded(out, path))


def test_collapsed_stacks_of_async_profiler(tmp_path: Path) -> None:
    path = RECORDED / "async.collapsed.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    expected: Counter[str] = Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        expected[stack] += int(count)
    assert Counter(dict(folded(tmp_path / "o.folded", path))) == expected


def test_the_executor_of_a_profile_of_spark(tmp_path: Path) -> None:
    for name, executor in (("profile-exec-3.jfr", "3"), ("profile-driver.jfr", "driver"), ("other.jfr", "")):
        (tmp_path / name).write_bytes(example().bytes())
        assert [row[2] for row in rows(tmp_path / name) if row[0] == "artefact"] == [executor]


# ---- Recordings made here ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compressed", [True, False])
def test_every_form_of_numbers_and_texts(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "made.jfr"
    path.write_bytes(example(compressed).bytes())
    found = rows(path)
    outer = "acme.\u00d6uter\U0001f525.run"
    assert sorted(row[1:] for row in found if row[0] == "sample") == sorted([
        ["cpu", "running", str(START_NS + 1000), "1", "", "101", "main", f"acme.Inner.call:12;{outer}"],
        ["cpu", "running", str(START_NS + 2000), "1", "", "102", "worker \u00fc", outer],
        ["wall", "waiting", str(START_NS + 3000), "1", "", "102", "worker \u00fc", ""],
        ["wall", "waiting", str(START_NS + 1000), "7", "", "101", "main", f"acme.Inner.call:12;{outer}"],
        ["alloc", "running", str(START_NS + 1000), "2048", "", "101", "main", f"java.lang.String[];acme.Inner.call:12;{outer}"],
    ])
    assert sorted(row[1:] for row in found if row[0] == "span") == [
        ["profiler-span", str(START_NS), "2500", "", "", "101", "main", "task 7"],
        ["sleep", str(START_NS), "1500", "", "", "101", "main", ""],
    ]
    assert [row[1:] for row in found if row[0] == "facts"] == [["7", "0", "1", "1"]]  # one event is unknown, one stack missing


@pytest.mark.parametrize("tag, task", [
    ("stageId=1,stageAttempt=0,partition=2,taskId=7,attempt=0,status=SUCCESS", ("7", "1", "0")),
    ("stage=3, partition=0, task_attempt_id=12", ("12", "3", "")),
    ("taskId=99999999999999999999", None),  # not a number of a task
    ("taskId=7x", None),
    ("taskId", None),
    ("stageId=1", None),
    ("", None),
])
def test_spans_that_name_their_task(tmp_path: Path, tag: str, task: Any) -> None:
    path = tmp_path / "made.jfr"
    chunk = example()
    chunk.event("profiler.Span", chunk.long(START_TICKS + 500), chunk.long(2_000), chunk.long(2), chunk.text(tag))
    path.write_bytes(chunk.bytes())
    found = rows(path)
    owners = [tuple(row[1:6]) for row in found if row[0] == "owner"]
    assert owners == ([(str(START_NS + 500), str(START_NS + 2500), *task)] if task else [])
    assert sum(row[1] == "task" for row in found if row[0] == "span") == (task is not None)


def test_chunks_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "three.jfr"
    path.write_bytes(example().bytes() + example(False).bytes() + example().bytes())
    assert sum(count for _, count in folded(tmp_path / "o.folded", path)) == 3 * 2
    path.write_bytes(example().bytes() + b"FLR\0\0\1 of another version, which is not read" + bytes(100))
    (artefact,) = [row for row in rows(path) if row[0] == "artefact"]
    assert artefact[5].startswith("what follows a chunk is not a chunk of version 2")


def test_a_chunk_that_was_being_written(tmp_path: Path) -> None:
    """It has no size yet, and no metadata: that of the chunk before it holds."""
    torn = example()
    torn.metadata = False
    path = tmp_path / "torn.jfr"
    path.write_bytes(example().bytes() + torn.bytes(size=0)[:-3])
    samples = [row for row in rows(path) if row[0] == "sample"]
    assert len(samples) == 10
    (artefact,) = [row for row in rows(path) if row[0] == "artefact"]
    assert artefact[5].startswith("the last chunk is torn")
    run = flame(path, "-o", tmp_path / "o.svg")
    assert run.exit == 0 and b"the last chunk is torn" in run.err


def test_types_that_contain_themselves(tmp_path: Path) -> None:
    """A type inside itself cannot be read: its events are counted, all others are decoded."""
    import jfr_writer

    original = dict(jfr_writer.TYPES)
    try:
        jfr_writer.TYPES["acme.Unknown"] = [("again", "acme.Unknown", "", ""), ("more", "acme.Unknown", "array", "")]
        jfr_writer.TYPES["jdk.ThreadSleep"] = [("startTime", "acme.Unknown", "", "")]
        path = tmp_path / "loop.jfr"
        path.write_bytes(example().bytes())
        found = rows(path)
    finally:
        jfr_writer.TYPES.clear()
        jfr_writer.TYPES.update(original)
    assert len([row for row in found if row[0] == "sample"]) == 5
    assert [row[1] for row in found if row[0] == "span"] == ["profiler-span"]


# ---- Damage --------------------------------------------------------------------------------------------------------


@pytest.mark.sanitize
def test_cut_recordings(tmp_path: Path) -> None:
    """At every fiftieth of the file: what is read never grows less, or is refused."""
    whole = unpacked(RECORDED / "jdk17.jfr.gz", tmp_path / "whole.jfr").read_bytes()
    path, before = tmp_path / "cut.jfr", -1
    first = int.from_bytes(whole[8:16], "big")
    for i in range(1, 51):
        path.write_bytes(whole[: len(whole) * i // 50])
        run = flame(path, "-o", tmp_path / "o.folded")
        assert run.exit in (0, 3), run.explain()
        if run.exit == 0 and len(whole) * i // 50 >= first:
            samples = sum(int(line.rpartition(" ")[2]) for line in (tmp_path / "o.folded").read_text().splitlines())
            assert samples >= before
            before = samples
    assert before > 0


@pytest.mark.sanitize
def test_flipped_bytes(tmp_path: Path) -> None:
    generator = random.Random(3)
    for whole in (unpacked(RECORDED / "jdk17.jfr.gz", tmp_path / "whole.jfr").read_bytes(), example(False).bytes()):
        path = tmp_path / "damaged.jfr"
        for _ in range(40):
            data = bytearray(whole)
            for _ in range(generator.choice((1, 10, 200))):
                data[generator.randrange(len(data))] = generator.randrange(256)
            path.write_bytes(data)
            run = flame(path, "-o", tmp_path / "o.svg")
            assert run.exit in (0, 3) and not run.timed_out, run.explain()


@pytest.mark.parametrize("size", [0, 1, 67, 68, 10**9, 2**31, 2**62, 2**63 - 1])
def test_false_sizes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "false.jfr"
    path.write_bytes(example().bytes(size=size))
    run = flame(path, "-o", tmp_path / "o.folded")
    assert run.exit in (0, 3), run.explain()
    assert run.rss_bytes < 200 << 20


def test_false_counts(tmp_path: Path) -> None:
    """An array, a text and a pool of two thousand million elements."""
    path = tmp_path / "false.jfr"
    for body in ("array", "pool", "text"):
        chunk = example()
        many = chunk.int(2**31 - 1)
        if body == "array":
            chunk.event("acme.Unknown", chunk.long(0), many)
        elif body == "pool":
            chunk.add(1, chunk.long(0) * 3 + b"\0" + many)
        else:
            chunk.event("profiler.Span", chunk.long(0), chunk.long(0), chunk.long(0), b"\3" + many)
        path.write_bytes(chunk.bytes())
        run = flame(path, "-o", tmp_path / "o.folded")
        assert run.exit == 0 and run.seconds < 10 and run.rss_bytes < 200 << 20, run.explain()


def test_an_empty_recording(tmp_path: Path) -> None:
    path = tmp_path / "empty.jfr"
    path.write_bytes(Chunk().bytes())
    run = flame(path, "-o", tmp_path / "o.folded")
    assert run.exit == 3 and b"events of the samples that were read: none" in run.err


def test_samples_that_measure_the_same_time(tmp_path: Path) -> None:
    """A JVM with both kinds of samples: those of CPU time count, the others are said to be left out. Lost ones are said too."""
    chunk = example()
    for at, stack in ((1_000, 1), (2_000, 2)):
        chunk.event("jdk.CPUTimeSample", chunk.long(START_TICKS + at), chunk.long(stack), chunk.long(1), b"\0", chunk.long(10), b"\0")
    chunk.event("jdk.CPUTimeSamplesLost", chunk.long(START_TICKS), chunk.int(5), chunk.long(1))
    path = tmp_path / "both.jfr"
    path.write_bytes(chunk.bytes())
    found = rows(path)
    cpu = sorted(row[3] for row in found if row[0] == "sample" and row[1] == "cpu")
    assert cpu == [str(START_NS + 1000), str(START_NS + 2000)]
    (artefact,) = (row for row in found if row[0] == "artefact")
    assert "5 CPU-time samples that the JVM lost" in artefact[5]
    assert "3 samples that are not read (jdk.ExecutionSample, measured by jdk.CPUTimeSample)" in artefact[5]


def test_events_of_async_profiler(tmp_path: Path) -> None:
    """Objects in use, native memory and native locks; kinds that nothing reads are named."""
    chunk = example()
    first = [chunk.long(START_TICKS + 1_000), chunk.long(1), chunk.long(1)]
    chunk.event("profiler.LiveObject", *first, chunk.long(3), chunk.long(640), chunk.long(START_TICKS))
    chunk.event("profiler.Malloc", *first, chunk.long(0x7f00), chunk.long(4096))
    chunk.event("profiler.NativeLock", first[0], chunk.long(700), *first[1:], chunk.long(0x7f10))
    chunk.event("profiler.ProcessSample", first[0])
    chunk.event("profiler.Window", first[0], chunk.long(700), first[1])
    path = tmp_path / "own.jfr"
    path.write_bytes(chunk.bytes())
    found = rows(path)
    samples = {row[1]: (row[2], row[4]) for row in found if row[0] == "sample" and row[1] in ("live", "malloc", "lock")}
    assert samples == {"live": ("unknown", "640"), "malloc": ("native", "4096"), "lock": ("blocked", "700")}
    assert [row[3] for row in found if row[0] == "span" and row[1] == "lock-wait"] == ["700"]
    (artefact,) = (row for row in found if row[0] == "artefact")
    assert artefact[5].endswith("1 samples that are not read (profiler.ProcessSample)")
    for event, weight in (("live", 640), ("malloc", 4096)):
        assert [found for _, found in folded(tmp_path / "out.folded", path, "--event", event)] == [weight]
