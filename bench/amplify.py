#!/usr/bin/env python3
"""Multiply a real event log into one long application of a wanted size.

The jobs of the base log are repeated one after the other. Each copy has its own
job, stage, task, SQL execution, RDD and accumulator ids, and later times;
executors and the application itself start once and end once. The result is a
valid log of one application: Spark's History Server shows it. The same base and
size always give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

BASE = Path(__file__).resolve().parent / "data" / "base-sql.zst"

# Events that happen once, however often the jobs repeat.
ONCE_AT_START = {
    "SparkListenerLogStart",
    "SparkListenerResourceProfileAdded",
    "SparkListenerEnvironmentUpdate",
    "SparkListenerApplicationStart",
    "SparkListenerBlockManagerAdded",
    "SparkListenerExecutorAdded",
}
ONCE_AT_END = {
    "SparkListenerApplicationEnd",
    "SparkListenerBlockManagerRemoved",
    "SparkListenerExecutorRemoved",
}

# What kind of number a key holds. "Parent IDs" depends on where it is.
KINDS = {
    "Job ID": "job",
    "Stage ID": "stage",
    "Stage IDs": "stage",
    "Task ID": "task",
    "executionId": "sql",
    "rootExecutionId": "sql",
    "RDD ID": "rdd",
    "ID": "accumulator",
    "accumulatorId": "accumulator",
    "Timestamp": "time",
    "Submission Time": "time",
    "Completion Time": "time",
    "Launch Time": "time",
    "Finish Time": "time",
    "Getting Result Time": "time",
    "Registration Time": "time",
    "time": "time",
}
SQL_PROPERTIES = ("spark.sql.execution.id", "spark.sql.execution.root.id")

# A mark is not valid inside JSON text, so the written line can be split at it.
MARK = re.compile("\"?\x01([a-z]+):(\\d+)\x01\"?|\x02([a-z]+):(\\d+)\x02")


class AmplifyError(Exception):
    """The base log cannot be multiplied, or the result is wrong."""


@dataclass
class Line:
    """One line of the base: text between the numbers, and the numbers."""

    event: str
    texts: list[bytes]
    numbers: list[tuple[str, int]]
    opens: int = 0  # jobs and SQL executions it opens (or, if negative, ends)

    def times(self) -> list[int]:
        return [value for kind, value in self.numbers if kind == "time"]


@dataclass
class Base:
    """The base log, taken apart."""

    start: list[Line] = field(default_factory=list)
    body: list[Line] = field(default_factory=list)
    end: list[Line] = field(default_factory=list)
    once_in_body: dict[int, list[Line]] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)
    body_start_ms: int = 0
    body_end_ms: int = 0


def read_base(path: Path) -> bytes:
    """The log's text, decompressed."""
    if path.suffix != ".zst":
        return path.read_bytes()
    try:
        return subprocess.run(["zstd", "-dcq", str(path)], check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise AmplifyError("zstd is needed to read the base log (Debian: zstd)") from None
    except subprocess.CalledProcessError as error:
        raise AmplifyError(f"{path}: {error.stderr.decode().strip()}") from None


def mark(kind: str, value: int) -> str:
    return f"\x01{kind}:{value}\x01"


def mark_numbers(value: Any, kind: str) -> Any:
    """VALUE with its numbers marked; negative ids and unset times stay as they are."""
    if isinstance(value, list):
        return [mark_numbers(item, kind) for item in value]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return value
    if kind == "time" and value == 0:
        return value
    return mark(kind, value)


def mark_block(name: str) -> str:
    """A block's name with its RDD marked, inside the string."""
    return re.sub(r"^rdd_(\d+)_", lambda found: f"rdd_\x02rdd:{found.group(1)}\x02_", name)


def mark_value(key: str, value: Any, within: str) -> Any:
    """VALUE, found under KEY in an object found under WITHIN, with its ids and times marked."""
    if key == "Parent IDs":
        return mark_numbers(value, "rdd" if within == "RDD Info" else "stage")
    if key == "accumUpdates":
        return [[mark_numbers(pair[0], "accumulator"), *pair[1:]] for pair in value]
    if key in SQL_PROPERTIES and isinstance(value, str) and value.isdigit():
        return f"\x02sql:{value}\x02"
    if key == "Block ID" and isinstance(value, str):
        return mark_block(value)
    if key in KINDS and isinstance(value, (int, list)):
        return mark_numbers(value, KINDS[key])
    return mark_all(value, key)


def mark_all(value: Any, within: str) -> Any:
    if isinstance(value, dict):
        return {key: mark_value(key, item, within) for key, item in value.items()}
    if isinstance(value, list):
        return [mark_all(item, within) for item in value]
    return value


def to_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def opening(event: str) -> int:
    if event == "SparkListenerJobStart" or event.endswith(".SparkListenerSQLExecutionStart"):
        return 1
    if event == "SparkListenerJobEnd" or event.endswith(".SparkListenerSQLExecutionEnd"):
        return -1
    return 0


def split_line(raw: bytes, number: int) -> Line:
    """Take one line apart at its ids and times."""
    try:
        record = json.loads(raw)
        event = record["Event"]
    except (ValueError, KeyError, TypeError) as error:
        raise AmplifyError(f"line {number} of the base log is no event: {error}") from None
    # json writes the marks' control characters as \u0001 and \u0002.
    text = to_json(mark_all(record, "")).replace("\\u0001", "\x01").replace("\\u0002", "\x02")
    texts: list[bytes] = []
    numbers: list[tuple[str, int]] = []
    last = 0
    for found in MARK.finditer(text):
        texts.append(text[last : found.start()].encode())
        numbers.append((found.group(1) or found.group(3), int(found.group(2) or found.group(4))))
        last = found.end()
    texts.append(text[last:].encode() + b"\n")
    return Line(event, texts, numbers, opening(event))


def take_apart(text: bytes) -> Base:
    """Sort the base log's lines into start, repeated body and end."""
    base = Base()
    for number, raw in enumerate(text.splitlines(), 1):
        line = split_line(raw, number)
        if line.event in ONCE_AT_END:
            base.end.append(line)
        elif line.event not in ONCE_AT_START:
            base.body.append(line)
        elif base.body:  # such as an executor that came while a job was waiting for it
            base.once_in_body.setdefault(len(base.body), []).append(line)
        else:
            base.start.append(line)
    if not any(line.opens for line in base.body):
        raise AmplifyError("the base log has no jobs to repeat")
    measure(base)
    return base


def measure(base: Base) -> None:
    """How far one copy's ids and times reach."""
    for line in base.body:
        for kind, value in line.numbers:
            base.widths[kind] = max(base.widths.get(kind, 0), value + 1)
    times = [time for line in base.body for time in line.times()]
    base.body_start_ms, base.body_end_ms = min(times), max(times)
    gap_ms = 1000
    base.widths["time"] = base.body_end_ms - base.body_start_ms + gap_ms


class Template:
    """Lines that are written again and again with other numbers."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.parts: list[bytes] = [b""]
        self.distinct: list[tuple[str, int]] = []
        self.uses: list[int] = []
        places: dict[tuple[str, int], int] = {}
        for line in lines:
            self.parts[-1] += line.texts[0]
            for number, text in zip(line.numbers, line.texts[1:]):
                place = places.setdefault(number, len(places))
                if place == len(self.distinct):
                    self.distinct.append(number)
                self.uses.append(place)
                self.parts += [b"", text]

    def write(self, change: Callable[[str, int], int]) -> bytes:
        """The lines' text with every number changed."""
        written = [b"%d" % change(kind, value) for kind, value in self.distinct]
        self.parts[1::2] = [written[place] for place in self.uses]
        return b"".join(self.parts)


def shifted(base: Base, copy: int) -> Callable[[str, int], int]:
    """The change of numbers that makes copy number COPY."""
    shift = {kind: width * copy for kind, width in base.widths.items()}
    return lambda kind, value: value + shift.get(kind, 0)


def ending(base: Base, last_ms: int) -> Callable[[str, int], int]:
    """The end's times: as long after the last event as they were in the base."""

    def change(kind: str, value: int) -> int:
        return last_ms + max(0, value - base.body_end_ms) if kind == "time" else value

    return change


def quiet_places(body: Sequence[Line]) -> Iterator[int]:
    """Numbers of lines after which no job and no SQL execution is open."""
    is_open = 0
    for place, line in enumerate(body, 1):
        is_open += line.opens
        if line.opens < 0 and is_open == 0:
            yield place


def line_bytes(line: Line) -> int:
    return sum(map(len, line.texts)) + sum(len(str(value)) for _, value in line.numbers)


def cut(body: Sequence[Line], wanted: int) -> int:
    """How many of the body's lines come closest to WANTED bytes, ending at a quiet place."""
    ends, total = [0], 0
    for line in body:
        total += line_bytes(line)
        ends.append(total)
    return min([0, *quiet_places(body), len(body)], key=lambda place: abs(ends[place] - wanted))


@dataclass
class Summary:
    """What was written."""

    copies: float
    bytes: int
    lines: int
    tasks: int


class Writer:
    """Counts what it writes."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.bytes = 0

    def write(self, text: bytes) -> None:
        self.out.write(text)
        self.bytes += len(text)


def first_body(base: Base) -> list[Line]:
    """The first copy: with the executors that came while jobs ran."""
    lines: list[Line] = []
    for place, line in enumerate(base.body):
        lines += base.once_in_body.get(place, [])
        lines.append(line)
    return lines + base.once_in_body.get(len(base.body), [])


def amplify(base: Base, wanted: int, out: BinaryIO) -> Summary:
    """Write a log of about WANTED bytes: at least one copy, ending at a quiet place."""
    writer = Writer(out)
    writer.write(Template(base.start).write(shifted(base, 0)))
    writer.write(Template(first_body(base)).write(shifted(base, 0)))
    ends = Template(base.end)
    reserve = sum(map(line_bytes, base.end))
    whole = Template(base.body)
    copy, kept, size = 1, len(base.body), 0
    while True:
        text = whole.write(shifted(base, copy))
        size = len(text)
        if writer.bytes + size + reserve > wanted:
            break
        writer.write(text)
        copy += 1
    place = cut(base.body, wanted - writer.bytes - reserve)
    if place:
        kept = place
        writer.write(Template(base.body[:place]).write(shifted(base, copy)))
        copy += 1
    last_ms = max(t for line in base.body[:kept] for t in line.times())
    writer.write(ends.write(ending(base, last_ms + base.widths["time"] * (copy - 1))))
    return summarise(base, writer.bytes, copy, kept)


def summarise(base: Base, written: int, copies: int, kept: int) -> Summary:
    once = len(base.start) + len(base.end) + sum(map(len, base.once_in_body.values()))
    ends = [line.event == "SparkListenerTaskEnd" for line in base.body]
    return Summary(
        copies - 1 + kept / len(base.body),
        written,
        once + (copies - 1) * len(base.body) + kept,
        (copies - 1) * sum(ends) + sum(ends[:kept]),
    )


# ---- Checking what was written --------------------------------------------------------------------------------------

CHECKED = {
    b"SparkListenerJobStart": re.compile(rb'"Job ID":(\d+)'),
    b"SparkListenerTaskEnd": re.compile(rb'"Task Info":\{"Task ID":(\d+)'),
    b"SparkListenerStageCompleted": re.compile(
        rb'"Stage Info":\{"Stage ID":(\d+,"Stage Attempt ID":\d+)'
    ),
    b"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart": re.compile(
        rb'"executionId":(\d+)'
    ),
}
RESUBMITTED = b'"Task End Reason":{"Reason":"Resubmitted"}'  # a second end of a task that had ended well
ONCE = {b"SparkListenerApplicationStart", b"SparkListenerApplicationEnd"}
TIME = re.compile(rb'"(?:Timestamp|Submission Time|Launch Time|time)":(\d+)')


class Checker:
    """Looks at a written log line by line."""

    def __init__(self) -> None:
        self.seen: dict[bytes, set[bytes]] = {}
        self.counts: dict[bytes, int] = {}
        self.submitted = 0
        self.resubmitted = 0

    def look(self, line: bytes, number: int) -> None:
        event = line[10 : line.index(b'"', 10)]
        self.counts[event] = self.counts.get(event, 0) + 1
        if event == b"SparkListenerTaskEnd" and RESUBMITTED in line[:400]:
            self.resubmitted += 1
            return
        pattern = CHECKED.get(event)
        if pattern is not None:
            self.look_at_id(event, pattern, line, number)
        if event in (b"SparkListenerJobStart", b"SparkListenerApplicationEnd"):
            self.look_at_time(event, line, number)

    def look_at_id(self, event: bytes, pattern: re.Pattern[bytes], line: bytes, number: int) -> None:
        found = pattern.search(line)
        if found is None:
            raise AmplifyError(f"line {number}: {event.decode()} without an id")
        ids = self.seen.setdefault(event, set())
        if found.group(1) in ids:
            raise AmplifyError(f"line {number}: {event.decode()} {found.group(1).decode()} twice")
        ids.add(found.group(1))

    def look_at_time(self, event: bytes, line: bytes, number: int) -> None:
        found = TIME.search(line)
        time = int(found.group(1)) if found else 0
        if time < self.submitted:
            raise AmplifyError(f"line {number}: {event.decode()} goes back in time")
        self.submitted = time

    def finish(self, summary: Summary) -> None:
        for event in ONCE:
            if self.counts.get(event, 0) != 1:
                raise AmplifyError(f"{event.decode()} occurs {self.counts.get(event, 0)} times")
        for begin, end in (("JobStart", "JobEnd"), ("TaskStart", "TaskEnd")):
            begun = self.counts.get(b"SparkListener" + begin.encode(), 0)
            ended = self.counts.get(b"SparkListener" + end.encode(), 0)
            ended -= self.resubmitted if end == "TaskEnd" else 0
            if begun != ended:
                raise AmplifyError(f"{begun} {begin} but {ended} {end}")
        if self.counts.get(b"SparkListenerTaskEnd", 0) != summary.tasks:
            raise AmplifyError(f"{summary.tasks} tasks were written, but others are there")


def check(path: Path, summary: Summary) -> None:
    """Ids are unique, jobs go forward in time, everything that starts ends."""
    if path.stat().st_size != summary.bytes:
        raise AmplifyError(f"{path} has {path.stat().st_size} bytes, not {summary.bytes}")
    checker = Checker()
    number = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            checker.look(line, number)
    if number != summary.lines:
        raise AmplifyError(f"{path} has {number} lines, not {summary.lines}")
    checker.finish(summary)


def size(text: str) -> int:
    """Bytes of a size such as 100M or 4G (powers of ten)."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kKMG]?)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; for example 100M, 1G")
    return int(float(found.group(1)) * {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}[found.group(2)])


def write_log(base_path: Path, wanted: int, out: Path) -> Summary:
    """Write and check OUT; it exists only if it is complete."""
    base = take_apart(read_base(base_path))
    part = out.with_name(out.name + ".part")
    with part.open("wb") as file:
        summary = amplify(base, wanted, file)
    check(part, summary)
    part.rename(out)
    return summary


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", type=size, help="wanted size, such as 100M or 1G")
    parser.add_argument("out", type=Path, help="the log to write (plain)")
    parser.add_argument("--base", type=Path, default=BASE, help="event log to repeat, plain or .zst")
    options = parser.parse_args(argv)
    try:
        summary = write_log(options.base, options.size, options.out)
    except (AmplifyError, OSError) as error:
        print(f"amplify.py: {error}", file=sys.stderr)
        return 1
    print(
        f"{options.out}: {summary.bytes} bytes, {summary.lines} lines, {summary.tasks} tasks, "
        f"{summary.copies:.2f} copies; ids and times checked"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
