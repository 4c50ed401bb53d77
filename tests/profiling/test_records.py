"""Records of profilers, one JSON object a line: their samples, series and owners, and folded stacks equal to those that
phil_stopwatch's fold_stacks writes."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any, Dict, List

import pytest

from profile_kit import flame, folded, rows

STOPWATCH = os.environ.get("PYROMETER_STOPWATCH")
START = 1_550_139_005_000
TASK_FRAMES = ["java.lang.Thread.sleep", "acme.Job.run", "org.apache.spark.executor.Executor$TaskRunner.run", "java.lang.Thread.run"]


def stack(frames: List[str], count: int = 1, **members: Any) -> Dict[str, Any]:
    """A record of Uber's profiler as it writes it."""
    record = {
        "stacktrace": frames,
        "endEpoch": START + 1000,
        "appId": None,
        "host": "node-1",
        "name": "910@node-1",
        "processUuid": "c15f66fa",
        "threadState": "RUNNABLE",
        "count": count,
        "startEpoch": START,
        "threadName": "main",
    }
    return {**record, **members}


def write(path: Path, records: List[Dict[str, Any]], prefix: str = "", separators: Any = (",", ":")) -> Path:
    path.write_text("".join(prefix + json.dumps(record, separators=separators) + "\n" for record in records))
    return path


def fold_stacks(text: str) -> List[str]:
    """What phil_stopwatch's fold_stacks prints."""
    counts: Dict[str, int] = {}
    for line in text.splitlines():
        if line.startswith("{") and '"stacktrace":' in line:
            record = json.loads(line)
            key = ";".join(reversed(record["stacktrace"]))
            counts[key] = counts.get(key, 0) + record["count"]
    return [f"{key} {count}" for key, count in counts.items()]


def test_folded_stacks_equal_those_of_phil_stopwatch(tmp_path: Path) -> None:
    generator = random.Random(5)
    names = ["a.B.c", "/x/helper.py:sleep:44", "/x/helper.py:<lambda>:7", "a.B$$anonfun$1.apply", "<string>:f:1"]
    records: List[Dict[str, Any]] = [stack([], 3)]
    for _ in range(500):
        frames = [generator.choice(names) for _ in range(generator.randrange(0, 6))]
        if generator.random() < 0.5:
            records.append({"stacktrace": frames, "count": generator.randrange(1, 9), "i_d": "8_id"})
        else:
            records.append(stack(frames, generator.randrange(1, 9), startEpoch=START - generator.randrange(9000)))
    path = write(tmp_path / "Combined.json", records)
    folded(tmp_path / "out.folded", path)
    assert (tmp_path / "out.folded").read_text().splitlines() == fold_stacks(path.read_text())


@pytest.mark.skipif(not STOPWATCH, reason="PYROMETER_STOPWATCH does not name phil_stopwatch's recorded data")
def test_recorded_stacks_equal_those_of_phil_stopwatch(tmp_path: Path) -> None:
    folder = Path(str(STOPWATCH)) / "profile_slacker"
    folded(tmp_path / "out.folded", folder / "CombinedStack.json.gz")
    expected = gzip.decompress((folder / "CombinedStack.folded.gz").read_bytes()).decode()
    assert (tmp_path / "out.folded").read_text() == expected
    # The same from the two files that it was put together from, and from the folded stacks themselves.
    folded(tmp_path / "two.folded", folder / "s_8_stack.json.gz", folder / "Stacktrace.json.gz")
    assert (tmp_path / "two.folded").read_text() == expected
    folded(tmp_path / "again.folded", folder / "CombinedStack.folded.gz")
    assert (tmp_path / "again.folded").read_text() == expected


@pytest.mark.skipif(not STOPWATCH, reason="PYROMETER_STOPWATCH does not name phil_stopwatch's recorded data")
def test_recorded_memory_of_jvm_and_workers() -> None:
    path = Path(str(STOPWATCH)) / "profile_slacker" / "CombinedCpuAndMemory.json.gz"
    records = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines() if line.startswith("{")]
    points = [row for row in rows(path) if row[0] == "point"]
    for series, key in (("process.rss", "pmem_rss"), ("heap.used", "heapMemoryTotalUsed"), ("cpu.system", "systemCpuLoad")):
        got = sorted((int(row[3]) // 10**6, float(row[4])) for row in points if row[1] == series)
        wanted = sorted((record["epochMillis"], float(record[key])) for record in records if isinstance(record.get(key), (int, float)))
        assert got == wanted and wanted
    pools = {row[2] for row in points if row[1] == "pool.used"}
    assert "pool=PS Eden Space" in pools and len(pools) == 6


def test_console_output_and_lines_of_others(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    record = json.dumps(stack(["a.B.c"], 4))
    path.write_text(
        "Java Agent 1.0.0 premain args: reporter=ConsoleOutputReporter\n"
        f"1550139004844 com.uber.profiling.reporters.ConsoleOutputReporter - Stacktrace: {record}\n"
        "Pi is roughly 3\n"
        "ConsoleOutputReporter - Stacktrace: {\"stacktrace\": [\"a.B.c\"], \"count\"\n"
    )
    assert folded(tmp_path / "o.folded", path) == [("a.B.c", 4)]
    assert [row[1:] for row in rows(path) if row[0] == "facts"] == [["1", "1", "0", "0"]]


@pytest.mark.parametrize("name, owner", [
    ("Executor task launch worker for task 7", ["7", "", ""]),
    ("Executor task launch worker for task 1.0 in stage 4.2 (TID 7)", ["7", "4", "2"]),
    ("Executor task launch worker for task 1.0 in stage 4.2 (TID x)", None),
    ("Executor task launch worker for task ", None),
    ("main", None),
])
def test_tasks_by_the_name_of_the_thread(tmp_path: Path, name: str, owner: Any) -> None:
    path = write(tmp_path / "Stacktrace.json", [stack(TASK_FRAMES, 2, threadName=name)])
    owners = [row[1:] for row in rows(path) if row[0] == "owner"]
    start, end = START * 10**6, (START + 1000) * 10**6
    expected = [] if owner is None else [[str(start), str(end), *owner, "thread-name", "910", "", name]]
    assert owners == expected


def test_an_idle_worker_works_for_no_task(tmp_path: Path) -> None:
    name = "Executor task launch worker for task 7"
    waiting = ["sun.misc.Unsafe.park", "java.util.concurrent.ThreadPoolExecutor.getTask", "java.lang.Thread.run"]
    later = {"threadName": name, "threadState": "WAITING", "startEpoch": START + 5000, "endEpoch": START + 6000}
    path = write(tmp_path / "s.json", [stack(TASK_FRAMES, 3, threadName=name), stack(waiting, 5, **later)])
    run = flame(path, "--task", 7, "-o", tmp_path / "o.folded")
    assert run.exit == 0
    assert (tmp_path / "o.folded").read_text() == ";".join(reversed(TASK_FRAMES)) + " 3\n"
    assert b"62.5 % of the samples name no task" in run.err
    assert flame(path, "--task", 8, "-o", tmp_path / "o.folded").exit == 3
    assert flame(path, "--stage", 7, "-o", tmp_path / "o.folded").exit == 3


def test_native_polls_wait(tmp_path: Path) -> None:
    """To the JVM a thread in a native poll is RUNNABLE; it does not use a CPU."""
    polls = ["sun.nio.ch.KQueueArrayWrapper.kevent0", "sun.nio.ch.EPollArrayWrapper.epollWait", "java.net.SocketInputStream.socketRead0",
             "java.base/sun.nio.ch.EPoll.wait(Native Method)", "java.net.PlainSocketImpl.socketAccept", "sun.nio.ch.Net.poll"]  # fmt: skip
    outer = ["io.netty.channel.nio.NioEventLoop.run", "java.lang.Thread.run"]
    works = ["acme.Poll.wait", *outer]
    path = write(tmp_path / "s.json", [*(stack([poll, *outer], 5) for poll in polls), stack(works, 2)])
    assert folded(tmp_path / "cpu.folded", path, "--event", "cpu") == [(";".join(reversed(works)), 2)]
    assert sum(weight for _, weight in folded(tmp_path / "all.folded", path)) == 5 * len(polls) + 2


def test_workers_without_a_host_join_the_only_one(tmp_path: Path) -> None:
    worker = {"stacktrace": ["/x/job.py:inner:3"], "count": 4, "i_d": "8_id"}
    path = write(tmp_path / "Combined.json", [stack(TASK_FRAMES, 2), worker])
    assert {text.split(";")[:2][0] for text, _ in folded(tmp_path / "o.folded", path, "--combined")} == {"node-1"}
    path = write(tmp_path / "Combined.json", [stack(TASK_FRAMES, 2), stack(TASK_FRAMES, 2, host="node-2", name="7@node-2"), worker])
    assert {text.split(";")[0] for text, _ in folded(tmp_path / "o.folded", path, "--combined")} == {"node-1", "node-2", "all"}


def test_records_of_python_workers(tmp_path: Path) -> None:
    old = {"stacktrace": ["/x/job.py:inner:3", "/x/job.py:outer:9"], "count": 4, "i_d": "8_id"}
    new = {**old, "epochMillis": START, "lastEpochMillis": START + 900, "intervalMillis": 100, "pid": 31, "stageId": 2, "taskAttemptId": 9, "count": 6}
    memory = {"pid": 31, "epochMillis": START, "pmem_rss": 80871424, "pmem_vms": 4655525888, "pmem_pfaults": 22741, "cpu_percent": 150.0}
    path = write(tmp_path / "s_8_stack.json", [old, new])
    by_time = {row[3]: row for row in rows(path) if row[0] == "sample"}
    assert set(by_time) == {"", str(START * 10**6)}
    assert by_time[""][1:3] == ["wall", "unknown"] and by_time[""][8] == "inner:3;outer:9"
    start, end = START * 10**6, (START + 1000) * 10**6
    assert [row[1:7] for row in rows(path) if row[0] == "owner"] == [[str(start), str(end), "9", "2", "", "named"]]
    assert folded(tmp_path / "o.folded", path, "--task", 9) == [("/x/job.py:outer:9;/x/job.py:inner:3", 6)]
    assert folded(tmp_path / "o.folded", path, "--merge-lines") == [("/x/job.py:outer;/x/job.py:inner", 10)]
    workers = write(tmp_path / "s_8_31_cpumem.json", [memory])
    points = {row[1]: float(row[4]) for row in rows(workers) if row[0] == "point"}
    assert points == {"process.rss": 80871424, "process.virtual": 4655525888, "process.page_faults": 22741, "cpu.cores": 1.5}
    assert flame(workers, "-o", tmp_path / "o.folded").exit == 3  # it has no stacks


def test_any_collector(tmp_path: Path) -> None:
    """Names of pools and collectors are the JVM's: G1 here, which phil_stopwatch cannot read."""
    pool = {"name": "G1 Eden Space", "type": "Heap memory", "usageUsed": 7, "usageCommitted": 9, "usageMax": -1, "peakUsageUsed": 8}
    record = {
        "nonHeapMemoryTotalUsed": 1.2731536e7,
        "bufferPools": [{"totalCapacity": 5, "name": "direct", "count": 1, "memoryUsed": 5}],
        "heapMemoryTotalUsed": 1.8589616e7,
        "epochMillis": START,
        "memoryPools": [pool, {**pool, "name": "G1 Old Gen", "usageUsed": 11}],
        "processCpuLoad": 0.25,
        "systemCpuLoad": "NaN",
        "gc": [{"collectionTime": 5, "name": "G1 Young Generation", "collectionCount": 2}],
        "host": "node-1",
        "name": "910@node-1",
        "vmRSS": None,
        "role": "executor",
    }
    io = {"epochMillis": START, "name": "910@node-1", "host": "node-1", "self": {"io": {"rchar": 1, "wchar": 2, "read_bytes": 3, "write_bytes": 4}}, "stat": []}
    info = {"agentVersion": "1.0.0", "epochMillis": START, "name": "910@node-1", "host": "node-1", "xmxBytes": 99, "cmdline": "java -Dpassword=x"}
    path = write(tmp_path / "CpuAndMemory.json", [record, io, info])
    points = {(row[1], row[2]): float(row[4]) for row in rows(path) if row[0] == "point"}
    assert points == {
        ("non_heap.used", ""): 12731536,
        ("heap.used", ""): 18589616,
        ("buffer.used", "pool=direct"): 5,
        ("pool.used", "pool=G1 Eden Space"): 7,
        ("pool.committed", "pool=G1 Eden Space"): 9,
        ("pool.used", "pool=G1 Old Gen"): 11,
        ("pool.committed", "pool=G1 Old Gen"): 9,
        ("cpu.process", ""): 0.25,
        ("gc.count", "collector=G1 Young Generation"): 2,
        ("gc.time", "collector=G1 Young Generation"): 5,
        ("io.read", ""): 3,
        ("io.written", ""): 4,
        ("io.read_by_calls", ""): 1,
        ("io.written_by_calls", ""): 2,
        ("heap.max", ""): 99,
    }
    assert {row[5] for row in rows(path) if row[0] == "point"} == {"910"}


def test_folded_stacks_are_read_back(tmp_path: Path) -> None:
    text = "main;a.B.c:12;d 3\nmain;x y z 4\nmain 1\nprocess 7;outer (/x/job.py:9);<lambda> (/x/job.py:3) 5\n"
    path = tmp_path / "in.folded"
    path.write_text(text)
    assert folded(tmp_path / "o.folded", path) == [
        ("main;a.B.c:12;d", 3),
        ("main;x y z", 4),
        ("main", 1),
        ("process 7;/x/job.py:outer:9;/x/job.py:<lambda>:3", 5),
    ]
    folded(tmp_path / "again.folded", tmp_path / "o.folded")
    assert (tmp_path / "again.folded").read_bytes() == (tmp_path / "o.folded").read_bytes()


@pytest.mark.sanitize
def test_damaged_records_never_crash(tmp_path: Path) -> None:
    generator = random.Random(7)
    whole = write(tmp_path / "whole.json", [stack(TASK_FRAMES, 2), stack(["a"] * 30, 1), {"pid": 1, "pmem_rss": 2, "epochMillis": START}]).read_bytes()
    path = tmp_path / "damaged.json"
    for i in range(60):
        data = bytearray(whole[: len(whole) * (i % 50 + 1) // 50])
        for _ in range(i % 4):
            data[generator.randrange(len(data))] = generator.randrange(256)
        path.write_bytes(data)
        assert flame(path, "-o", tmp_path / "o.svg").exit in (0, 3)


def test_deep_stacks_and_long_lines(tmp_path: Path) -> None:
    deep = write(tmp_path / "deep.json", [stack([f"a.b.C.m{i}" for i in range(5000)], 1)])
    (stack_text, weight), = folded(tmp_path / "o.folded", deep)
    assert weight == 1 and stack_text.count(";") == 4095 and stack_text.endswith(";a.b.C.m0")
    artefact = [row for row in rows(deep) if row[0] == "artefact"][0]
    assert artefact[5] == "1 stacks that are too deep"
    long = write(tmp_path / "long.json", [stack(["x" * 2_000_000], 1), stack(["y"], 1)])
    assert folded(tmp_path / "o.folded", long) == [("y", 1)]
