"""Small recordings in the form of Java Flight Recorder, for what no profiler at hand writes: integers of full size, texts in
every encoding, events of other versions, and damage in chosen places."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Dict, List, Tuple

TICKS_PER_SECOND = 10**9
START_NS = 1_700_000_000_000_000_000
START_TICKS = 5_000

PLAIN = ["boolean", "byte", "char", "short", "int", "long", "float", "double", "java.lang.String"]
# name: fields as (name, type, "constant", "array" or "", unit)
TYPES: Dict[str, List[Tuple[str, str, str, str]]] = {
    **{name: [] for name in PLAIN},
    "jdk.jfr.Timespan": [],
    "jdk.jfr.Timestamp": [],
    "jdk.types.Symbol": [("string", "java.lang.String", "", "")],
    "jdk.types.ThreadState": [("name", "java.lang.String", "", "")],
    "jdk.types.FrameType": [("description", "java.lang.String", "", "")],
    "java.lang.Class": [("name", "jdk.types.Symbol", "constant", ""), ("modifiers", "int", "", "")],
    "jdk.types.Method": [("type", "java.lang.Class", "constant", ""), ("name", "jdk.types.Symbol", "constant", "")],
    "jdk.types.StackFrame": [
        ("method", "jdk.types.Method", "constant", ""),
        ("lineNumber", "int", "", ""),
        ("type", "jdk.types.FrameType", "constant", ""),
    ],
    "jdk.types.StackTrace": [("truncated", "boolean", "", ""), ("frames", "jdk.types.StackFrame", "array", "")],
    "java.lang.Thread": [
        ("osName", "java.lang.String", "", ""),
        ("osThreadId", "long", "", ""),
        ("javaName", "java.lang.String", "", ""),
    ],
    "jdk.ExecutionSample": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("sampledThread", "java.lang.Thread", "constant", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant", ""),
        ("state", "jdk.types.ThreadState", "constant", ""),
    ],
    "profiler.WallClockSample": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("sampledThread", "java.lang.Thread", "constant", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant", ""),
        ("state", "jdk.types.ThreadState", "constant", ""),
        ("samples", "int", "", ""),
    ],
    "jdk.ThreadSleep": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("duration", "long", "", "jdk.jfr.Timespan TICKS"),
        ("eventThread", "java.lang.Thread", "constant", ""),
        ("time", "long", "", "jdk.jfr.Timespan MILLISECONDS"),
    ],
    "profiler.Span": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("duration", "long", "", "jdk.jfr.Timespan TICKS"),
        ("eventThread", "java.lang.Thread", "constant", ""),
        ("tag", "java.lang.String", "", ""),
    ],
    "jdk.ObjectAllocationInNewTLAB": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("eventThread", "java.lang.Thread", "constant", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant", ""),
        ("objectClass", "java.lang.Class", "constant", ""),
        ("allocationSize", "long", "", ""),
        ("tlabSize", "long", "", ""),
    ],
    "jdk.CPUTimeSample": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("stackTrace", "jdk.types.StackTrace", "constant", ""),
        ("eventThread", "java.lang.Thread", "constant", ""),
        ("failed", "boolean", "", ""),
        ("samplingPeriod", "long", "", "jdk.jfr.Timespan TICKS"),
        ("biased", "boolean", "", ""),
    ],
    "jdk.CPUTimeSamplesLost": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("lostSamples", "int", "", ""),
        ("eventThread", "java.lang.Thread", "constant", ""),
    ],
    "profiler.LiveObject": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("eventThread", "java.lang.Thread", "constant", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant", ""),
        ("objectClass", "java.lang.Class", "constant", ""),
        ("allocationSize", "long", "", ""),
        ("allocationTime", "long", "", "jdk.jfr.Timestamp TICKS"),
    ],
    "profiler.Malloc": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("eventThread", "java.lang.Thread", "constant", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant", ""),
        ("address", "long", "", ""),
        ("size", "long", "", ""),
    ],
    "profiler.NativeLock": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("duration", "long", "", "jdk.jfr.Timespan TICKS"),
        ("eventThread", "java.lang.Thread", "constant", ""),
        ("stackTrace", "jdk.types.StackTrace", "constant", ""),
        ("address", "long", "", ""),
    ],
    "profiler.ProcessSample": [("startTime", "long", "", "jdk.jfr.Timestamp TICKS")],
    "profiler.Window": [
        ("startTime", "long", "", "jdk.jfr.Timestamp TICKS"),
        ("duration", "long", "", "jdk.jfr.Timespan TICKS"),
        ("eventThread", "java.lang.Thread", "constant", ""),
    ],
    "acme.Unknown": [("startTime", "long", "", "jdk.jfr.Timestamp TICKS"), ("numbers", "double", "array", "")],
}
IDS = {name: number for number, name in enumerate(TYPES, 20)}


@dataclass
class Chunk:
    """One chunk; `events` and pools are in the order in which they are added."""

    compressed: bool = True
    events: List[bytes] = field(default_factory=list)
    metadata: bool = True

    def long(self, value: int) -> bytes:
        if not self.compressed:
            return struct.pack(">q", value)
        value &= (1 << 64) - 1
        data = bytearray()
        for _ in range(8):
            if value < 0x80:
                return bytes(data) + bytes([value])
            data.append(value & 0x7F | 0x80)
            value >>= 7
        return bytes(data) + bytes([value])

    def int(self, value: int) -> bytes:
        return self.long(value & 0xFFFFFFFF) if self.compressed else struct.pack(">i", value)

    def short(self, value: int) -> bytes:
        return self.long(value & 0xFFFF) if self.compressed else struct.pack(">H", value)

    def text(self, value: str, encoding: str = "utf-8") -> bytes:
        if encoding == "chars":
            units = struct.unpack(f"<{len(value.encode('utf-16-le')) // 2}H", value.encode("utf-16-le"))
            return b"\4" + self.int(len(units)) + b"".join(self.short(unit) for unit in units)
        if encoding == "latin-1":
            return b"\5" + self.int(len(value)) + value.encode("latin-1")
        return b"\3" + self.int(len(value.encode())) + value.encode()

    def add(self, kind: int, body: bytes) -> None:
        """An event with its size, which counts its own bytes."""
        rest = self.long(kind) + body
        size = len(rest) + 4
        if self.compressed:  # always four bytes, as the JVM writes it
            packed = bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14 & 0x7F | 0x80, size >> 21 & 0x7F])
        else:
            packed = struct.pack(">i", size)
        self.events.append(packed + rest)

    def event(self, name: str, *fields: bytes) -> None:
        self.add(IDS[name], b"".join(fields))

    def pools(self, **pools: Dict[int, bytes]) -> None:
        """A checkpoint with entries of pools, by the last word of their type's name."""
        names = {name.rpartition(".")[2]: name for name in TYPES}
        body = self.long(0) * 3 + b"\0" + self.int(len(pools))
        for pool, entries in pools.items():
            body += self.long(IDS[names[pool]]) + self.int(len(entries))
            body += b"".join(self.long(key) + value for key, value in entries.items())
        self.add(1, body)

    def add_metadata(self) -> None:
        """The types above, as a tree of elements."""
        words: Dict[str, int] = {}

        def element(name: str, attributes: Dict[str, str], children: List[bytes]) -> bytes:
            data = self.int(words.setdefault(name, len(words))) + self.int(len(attributes))
            for key, value in attributes.items():
                data += self.int(words.setdefault(key, len(words))) + self.int(words.setdefault(value, len(words)))
            return data + self.int(len(children)) + b"".join(children)

        classes = []
        for name, fields in TYPES.items():
            members = []
            for field_name, kind, how, unit in fields:
                attributes = {"name": field_name, "class": str(IDS[kind])}
                if how == "constant":
                    attributes["constantPool"] = "true"
                if how == "array":
                    attributes["dimension"] = "1"
                annotation = unit.split()
                annotations = (
                    [element("annotation", {"class": str(IDS[annotation[0]]), "value": annotation[1]}, [])] if unit else []
                )
                members.append(element("field", attributes, annotations))
            classes.append(element("class", {"id": str(IDS[name]), "name": name}, members))
        tree = element("root", {}, [element("metadata", {}, classes), element("region", {"locale": "en"}, [])])
        texts = self.int(len(words)) + b"".join(self.text(word) for word in words)
        self.add(0, self.long(0) * 3 + texts + tree)

    def bytes(self, size: int | None = None) -> bytes:
        if self.metadata:
            self.add_metadata()
            self.metadata = False
        body = b"".join(self.events)
        whole = 68 + len(body) if size is None else size
        header = b"FLR\0" + struct.pack(">HHqqqqqqq", 2, 1, whole, 0, 0, START_NS, 0, START_TICKS, TICKS_PER_SECOND)
        return header + struct.pack(">i", 1 if self.compressed else 0) + body


def example(compressed: bool = True) -> Chunk:
    """Samples of two threads, and one event of each other kind that this file knows."""
    chunk = Chunk(compressed)
    sample = [chunk.long(START_TICKS + 1_000), chunk.long(1), chunk.long(1), chunk.long(1)]
    chunk.event("jdk.ExecutionSample", *sample)
    chunk.event("jdk.ExecutionSample", chunk.long(START_TICKS + 2_000), chunk.long(2), chunk.long(2), chunk.long(1))
    chunk.event("jdk.ExecutionSample", chunk.long(START_TICKS + 3_000), chunk.long(2), chunk.long(99), chunk.long(2))
    chunk.event("profiler.WallClockSample", *sample[:3], chunk.long(2), chunk.int(7))
    chunk.event("jdk.ThreadSleep", chunk.long(START_TICKS), chunk.long(1_500), chunk.long(1), chunk.long(1))
    chunk.event("profiler.Span", chunk.long(START_TICKS), chunk.long(2_500), chunk.long(1), chunk.text("task 7"))
    chunk.event("jdk.ObjectAllocationInNewTLAB", *sample[:3], chunk.long(3), chunk.long(24), chunk.long(2048))
    chunk.event("acme.Unknown", chunk.long(START_TICKS), chunk.int(2), struct.pack(">dd", 1.5, 2.5))
    frame = chunk.long(1) + chunk.int(12) + chunk.long(1)
    outer = chunk.long(2) + chunk.int(0) + chunk.long(1)
    chunk.pools(
        Thread={
            1: chunk.text("") + chunk.long(101) + chunk.text("main"),
            2: chunk.text("worker \u00fc", "latin-1") + chunk.long(102) + b"\0",
        },
        StackTrace={1: b"\0" + chunk.int(2) + frame + outer, 2: b"\0" + chunk.int(1) + outer},
        Method={1: chunk.long(1) + chunk.long(11), 2: chunk.long(2) + chunk.long(12)},
        Class={1: chunk.long(1) + chunk.int(0), 2: chunk.long(2) + chunk.int(0), 3: chunk.long(3) + chunk.int(0)},
    )
    chunk.pools(
        Symbol={
            1: chunk.text("acme/Inner"),
            2: chunk.text("acme/\u00d6uter\U0001f525", "chars"),
            3: chunk.text("[Ljava/lang/String;"),
            11: chunk.text("call"),
            12: b"\2" + chunk.long(5),
        },
        String={5: chunk.text("run")},
        ThreadState={1: chunk.text("STATE_RUNNABLE"), 2: chunk.text("STATE_SLEEPING")},
        FrameType={1: chunk.text("JIT compiled")},
    )
    return chunk
