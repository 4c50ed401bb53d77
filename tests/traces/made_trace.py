"""A run with a trace that is made here: an event log, records of which thread had which task, and a trace of the kernel in
the form of perf (Common Trace Format 1.8).

Each task does the same, see work(). So its parts are known: trace_run() makes a run of any log.
"""

from __future__ import annotations

import json
import shutil
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

from conftest import ROOT, lines_of

LOG = ROOT / "corpus" / "logs" / "data_skew.zst"
MAGIC = 0xC1FC1FC1
UUID = bytes(range(16))
HOST = "made-host"
IDLE = 0  # the thread of a processor without work
RUNS, SLEEPS, WAITS = 0, 1, 2  # prev_state
READ, FUTEX = 0, 202
DISK = 0x800000

# Fields of events as perf records them: i, I, q, Q as in struct; s: a text that ends with a zero; 6Q: six numbers.
COMMON = "perf_tid:i perf_pid:i "
EVENTS = {
    "sched:sched_switch": COMMON + "prev_comm:s prev_pid:i prev_prio:i prev_state:q next_comm:s next_pid:i next_prio:i",
    "sched:sched_wakeup": COMMON + "comm:s pid:i prio:i target_cpu:i",
    "raw_syscalls:sys_enter": COMMON + "id:q args:6Q",
    "raw_syscalls:sys_exit": COMMON + "id:q ret:q",
    "block:block_rq_issue": COMMON + "dev:I sector:Q nr_sector:I bytes:I rwbs:s comm:s cmd:s",
    "block:block_rq_complete": COMMON + "dev:I sector:Q nr_sector:I error:i rwbs:s cmd:s",
}


# ---- The Common Trace Format ----------------------------------------------------------------------------------------


def integer(form: str, more: str = "") -> str:
    size = struct.calcsize("<" + form) * 8
    signed = "true" if form.islower() else "false"
    return f"integer {{ size = {size}; align = 8; signed = {signed}; byte_order = le; {more}}}"


def field(name: str, form: str) -> str:
    if form == "s":
        return f"string {{ encoding = UTF8; }} {name};"
    return f"{integer(form[-1])} {name}{f'[{form[:-1]}]' if len(form) > 1 else ''};"


def fields_of(event: str) -> List[Tuple[str, str]]:
    return [(name, form) for name, _, form in (one.partition(":") for one in EVENTS[event].split())]


def metadata() -> str:
    header = "packet.header := struct { %s magic; %s uuid[16]; %s stream_id; };" % (integer("I"), integer("B"), integer("I"))
    context = " ".join(field(name, "Q") for name in ("timestamp_begin", "timestamp_end", "content_size", "packet_size", "events_discarded"))
    uuid = "-".join(UUID.hex()[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
    texts = [
        "/* CTF 1.8 */",
        f'trace {{ major = 1; minor = 8; uuid = "{uuid}"; byte_order = le; {header} }};',
        f'env {{ host = "{HOST}"; sysname = "Linux"; machine = "x86_64"; domain = "kernel"; tracer_name = "perf"; }};',
        "clock { name = perf_clock; freq = 1000000000; offset_s = 0; offset = 0; absolute = FALSE; };",
        f"stream {{ id = 0; event.header := struct {{ {field('id', 'I')} {integer('Q', 'map = clock.perf_clock.value; ')} timestamp; }} align(8);"
        f" packet.context := struct {{ {context} {field('cpu_id', 'I')} }} align(8); }};",
    ]
    for number, event in enumerate(EVENTS):
        fields = " ".join(field(name, form) for name, form in fields_of(event))
        texts.append(f'event {{ id = {number}; name = "{event}"; stream_id = 0; fields := struct {{ {fields} }} align(8); }};')
    return "\n".join(texts) + "\n"


class Trace:
    """Events of processors; each gets one stream."""

    def __init__(self) -> None:
        self.events: Dict[int, List[Tuple[int, bytes]]] = defaultdict(list)

    def add(self, cpu: int, time_ns: int, event: str, perf_tid: int, perf_pid: int, **values: Any) -> None:
        data = struct.pack("<IQ", list(EVENTS).index(event), time_ns)
        for name, form in fields_of(event):
            value = {"perf_tid": perf_tid, "perf_pid": perf_pid, **values}.get(name, 0)
            if form == "s":
                data += (value or "").encode() + b"\0"
            elif len(form) > 1:
                data += struct.pack("<" + form, *(value or [0] * int(form[:-1])))
            else:
                data += struct.pack("<" + form, value)
        self.events[cpu].append((time_ns, data))

    def packet(self, cpu: int, events: List[Tuple[int, bytes]], discarded: int) -> bytes:
        body = b"".join(data for _, data in events)
        size = 8 * (24 + 44 + len(body))
        context = struct.pack("<QQQQQI", events[0][0], events[-1][0], size, size, discarded, cpu)
        return struct.pack("<I", MAGIC) + UUID + struct.pack("<I", 0) + context + body

    def write(self, folder: Path, lost: int = 0) -> None:
        """`lost` events are missing in the middle of the first stream."""
        folder.mkdir(parents=True)
        (folder / "metadata").write_text(metadata(), encoding="utf-8")
        for cpu, events in sorted(self.events.items()):
            events.sort(key=lambda event: event[0])
            half = len(events) // 2 if lost and cpu == 0 else 0
            data = (self.packet(cpu, events[:half], 0) if half else b"") + self.packet(cpu, events[half:], lost if half else 0)
            (folder / f"perf_stream_{cpu}").write_bytes(data)


# ---- Tasks ----------------------------------------------------------------------------------------------------------


class Task(NamedTuple):
    task: int
    stage: int
    attempt: int
    partition: int
    executor: str
    start_ns: int  # since 1970
    end_ns: int


class Place(NamedTuple):
    """Where a task runs: a thread of its executor, alone on a processor; the next one is that of a second thread."""

    slot: int
    pid: int

    @property
    def cpu(self) -> int:
        return 2 * self.slot

    @property
    def tid(self) -> int:
        return 10000 + 10 * self.slot


def tasks_of(log: Path) -> List[Task]:
    found = []
    for line in lines_of(log):
        event = json.loads(line)
        if event["Event"] != "SparkListenerTaskEnd":
            continue
        info = event["Task Info"]
        if info["Finish Time"] > info["Launch Time"] + 1:
            times = (info["Launch Time"] * 10**6 + 200_000, info["Finish Time"] * 10**6 - 200_000)
            where = (event["Stage ID"], event["Stage Attempt ID"], info["Index"], info["Executor ID"])
            found.append(Task(info["Task ID"], *where, *times))
    return sorted(found, key=lambda task: task.start_ns)


def places_of(tasks: List[Task]) -> Iterator[Tuple[Task, Place]]:
    """Each task with the first slot of its executor that is free."""
    slots: List[Tuple[str, int]] = []  # executor, end of its task
    executors = sorted({task.executor for task in tasks})
    for task in tasks:
        free = [i for i, (executor, end) in enumerate(slots) if executor == task.executor and end <= task.start_ns]
        slot = free[0] if free else len(slots)
        slots[slot : slot + 1] = [(task.executor, task.end_ns)]
        yield task, Place(slot, 5000 + executors.index(task.executor))


def work(trace: Trace, place: Place, start: int, end: int) -> None:
    """What a task does: 30 % computes, 15 % waits for a thread that computes, 15 % computes, 20 % waits for its processor,
    which a process "hog" has, 12 % reads from a disk, 8 % computes."""
    cpu, tid, pid = place.cpu, place.tid, place.pid
    helper, hog = tid + 1, 900 + place.slot
    names = {IDLE: "swapper", tid: "Executor task l", helper: "dispatcher", hog: "hog"}
    pids = {tid: pid, helper: pid, hog: hog}

    def at(percent: int) -> int:
        return start + (end - start) * percent // 100

    def switch(on: int, time_ns: int, state: int, before: int, after: int) -> None:
        values = {"prev_comm": names[before], "prev_pid": before, "prev_state": state, "next_comm": names[after], "next_pid": after}
        trace.add(on, time_ns, "sched:sched_switch", before, pids.get(before, 0), **values)

    def wake(on: int, time_ns: int, by: int) -> None:
        trace.add(on, time_ns, "sched:sched_wakeup", by, pids.get(by, 0), comm=names[tid], pid=tid, target_cpu=cpu)

    switch(cpu, start, SLEEPS, IDLE, tid)
    switch(cpu + 1, at(30) - 1000, SLEEPS, IDLE, helper)
    trace.add(cpu, at(30) - 500, "raw_syscalls:sys_enter", tid, pid, id=FUTEX)
    switch(cpu, at(30), SLEEPS, tid, IDLE)
    trace.add(cpu + 1, at(45) - 1500, "raw_syscalls:sys_enter", helper, pid, id=FUTEX)
    wake(cpu + 1, at(45) - 1000, helper)
    switch(cpu, at(45), RUNS, IDLE, tid)
    trace.add(cpu, at(45) + 500, "raw_syscalls:sys_exit", tid, pid, id=FUTEX)
    trace.add(cpu + 1, at(45) + 800, "raw_syscalls:sys_exit", helper, pid, id=FUTEX, ret=1)
    switch(cpu + 1, at(45) + 1000, SLEEPS, helper, IDLE)
    switch(cpu, at(60), RUNS, tid, hog)
    switch(cpu, at(80), SLEEPS, hog, tid)
    trace.add(cpu, at(80) + 500, "raw_syscalls:sys_enter", tid, pid, id=READ, args=[7, 0, 65536, 0, 0, 0])
    request = {"dev": DISK, "sector": 8 * tid, "nr_sector": 128, "rwbs": "R"}
    trace.add(cpu, at(80) + 800, "block:block_rq_issue", tid, pid, bytes=65536, comm=names[tid], **request)
    switch(cpu, at(80) + 1000, WAITS, tid, IDLE)
    trace.add(cpu, at(92) - 2000, "block:block_rq_complete", IDLE, 0, **request)
    wake(cpu, at(92) - 1000, IDLE)
    switch(cpu, at(92), RUNS, IDLE, tid)
    trace.add(cpu, at(92) + 500, "raw_syscalls:sys_exit", tid, pid, id=READ, ret=65536)
    switch(cpu, end, SLEEPS, tid, IDLE)


def write_task_threads(folder: Path, application: str, placed: List[Tuple[Task, Place]], offset_ns: int) -> None:
    folder.mkdir()
    for executor in sorted({task.executor for task, _ in placed}):
        own = [(task, place) for task, place in placed if task.executor == executor]
        pid = own[0][1].pid
        lines: List[Dict[str, Any]] = [
            {"Pyrometer": "task-threads", "version": 1, "application": application, "executor": executor, "host": HOST, "pid": pid},
            *({"clock": {"monotonic_ns": ns, "utc_ns": ns + offset_ns}} for ns in (10**12, 10**12 + 10**9)),
        ]
        for task, place in own:
            times = {"start_ns": task.start_ns - offset_ns, "end_ns": task.end_ns - offset_ns}
            what = {"stage": task.stage, "attempt": task.attempt}
            lines.append({"begins": task.task, **what, "tid": place.tid, "start_ns": times["start_ns"]})
            lines.append({"task": task.task, **what, "partition": task.partition, "tid": place.tid, **times, "status": "SUCCESS"})
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        (folder / f"task-threads-{application}-{executor}-{pid}.jsonl").write_text(text, encoding="utf-8")


def trace_run(folder: Path, log: Path = LOG, lost: int = 0) -> Path:
    """The folder of a run: eventlog/, tasks/ and kernel/, as `pyrometer trace record` makes it."""
    tasks = tasks_of(log)
    placed = list(places_of(tasks))
    offset_ns = tasks[0].start_ns - 2 * 10**12  # of UTC to the monotonic clock
    trace = Trace()
    for task, place in placed:
        work(trace, place, task.start_ns - offset_ns, task.end_ns - offset_ns)
    application = next(event["App ID"] for event in map(json.loads, lines_of(log)) if event["Event"] == "SparkListenerApplicationStart")
    (folder / "eventlog").mkdir(parents=True)
    shutil.copy(log, folder / "eventlog")
    write_task_threads(folder / "tasks", application, placed, offset_ns)
    trace.write(folder / "kernel", lost)
    return folder
