"""Errors of text logs, worked out in plain Python without a look at the C code: what pyrometer.errors/1 must add up to.

It knows the layouts that were recorded. Groups are (classes, normalized message of the root) for exceptions, and (logger,
normalized message) for other errors; frames are left aside.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Iterator, Optional

LEVELS = "TRACE|DEBUG|INFO|WARN|ERROR|FATAL"
HEADERS = [
    re.compile(rf"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?P<level>{LEVELS}) (?P<logger>[\w.$-]+): (?P<message>.*)$"),
    re.compile(rf"^\d{{4}}-\d\d-\d\dT\S+ \[.*?\] (?P<level>{LEVELS}) +(?P<logger>[\w.$-]+) - (?P<message>.*)$"),
    re.compile(rf"^(?P<level>{LEVELS}) +\| \d\d \w+ \d{{4}} \S+ \| <.*?> \| .*? \| (?P<logger>[\w.$-]+) ~ (?P<message>.*)$"),
]
NAME = r"[A-Za-z_][\w.$]*(?:Error|Exception|Failure|Interrupt)"
EXCEPTION = re.compile(rf"(?:^|: )({NAME})(?:: (.*)|:?)$", re.S)
CHAINS = ("During handling of the above exception", "The above exception was the direct cause")


class Record:
    """A header and the lines behind it; without a header, the lines of one exception."""

    def __init__(self, level: Optional[str], logger: str, message: str) -> None:
        self.level, self.logger, self.lines = level, logger, [message]


def json_record(line: str) -> Optional[Record]:
    """A line of structured logging."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict) or "level" not in row or "ts" not in row:
        return None
    record = Record(row["level"], row.get("logger", ""), "")
    record.lines = row["msg"].split("\n")
    thrown = row.get("exception")
    if isinstance(thrown, dict) and thrown.get("class"):
        said = f": {thrown['msg']}" if thrown.get("msg") else ""
        record.lines += f"{thrown['class']}{said}".split("\n")
        stack = thrown.get("stacktrace")
        record.lines += stack.split("\n") if isinstance(stack, str) else ["\tat x"] * len(stack or [])
    return record


def records(text: str) -> Iterator[Record]:
    """Records of one file."""
    current: Optional[Record] = None
    lines = text.split("\n")
    for at, line in enumerate(lines):
        made = json_record(line) if line.startswith("{") else None
        if made is None:
            match = next((found for found in (header.match(line) for header in HEADERS) if found), None)
            made = Record(match["level"], match["logger"], match["message"]) if match else None
        if made is not None:
            if current:
                yield current
            current = made
            continue
        if line.startswith("Traceback (most recent call last)"):
            before = next((one for one in reversed(lines[:at]) if one.strip()), "")
            if not (current and before.rstrip().endswith(":")):
                if current:
                    yield current
                current = Record(None, "", line)
                continue
        if current and current.level is None and current.lines[-1] == "" and not goes_on(line):
            yield current
            current = None
        if current:
            current.lines.append(line)
    if current:
        yield current


def goes_on(line: str) -> bool:
    """Whether an exception goes on behind an empty line."""
    words = ("Caused by:", *CHAINS, "Driver stacktrace:", "JVM stacktrace:", "Traceback", ": ", " ", "\t")
    return line == "" or line.startswith(words) or re.match(rf"{NAME}(:|$)", line) is not None


def chain(lines: list[str]) -> list[tuple[str, str]]:
    """(class, message) of an exception and its causes, outermost first."""
    items: list[tuple[str, str]] = []
    python: list[tuple[str, str]] = []  # raised one after the other
    state, repeated, joined = "java", 0, False
    for line in lines:
        cause = line.startswith("Caused by: ")
        joined = joined or line.startswith(CHAINS)
        if line.startswith("Traceback (most recent call last)"):
            if not joined:  # in the message of the exception before, as the driver of Spark 4 has that of a worker
                items += reversed(python)
                python = []
            state, joined = "traceback", False
            continue
        if cause or (state == "after" and line.startswith(": ")):
            items += reversed(python)
            python = []
            found = re.match(rf"(?:Caused by: |: )({NAME}|[\w.$]+)(?:: ?(.*))?$", line)
            item = (found[1], (found[2] or "").strip()) if found else ("", line)
        elif state == "traceback":
            found = re.match(r"([\w.]+)(?:: ?(.*))?$", line) if line and line[0] not in " \t" else None
            if found:
                python.append((found[1], (found[2] or "").strip()))
                state = "after"
            continue
        elif not items and not python and line and line[0] not in " \t":
            lost = re.search(r"(?:^|: )(ExecutorLostFailure) \(.*?Reason: (.*)$", line)
            named = list(re.finditer(rf"(?:^|: )({NAME})(?=:|$)", line))
            if lost and not any(match.start() < lost.start() for match in named):
                items.append((lost[1], lost[2].strip()))
                continue
            if not named:
                continue
            item = (named[0][1], line[named[0].end() + 1 :].strip())
        else:
            continue
        state = "java"
        inner = re.search(r"most recent failure: .*?\): (.*)$", item[1])
        if "Traceback (most recent call last)" in item[1]:
            state = state if inner else "traceback"
            item = (item[0], item[1].split("Traceback (most recent call last)")[0].strip())
        if repeated and cause and items[repeated : repeated + 1] == [item]:
            del items[repeated:]  # the driver repeats the exception of a task, which was in its message
        repeated = 0
        items.append(item)
        found = re.match(rf"({NAME})(?:: ?(.*))?$", inner[1]) if inner else None
        lost = re.match(r"(ExecutorLostFailure) \(.*?Reason: (.*)$", inner[1]) if inner else None
        if found or lost:
            name, rest = (lost or found).groups()  # type: ignore[union-attr]
            rest = (rest or "").strip()
            if "Traceback (most recent call last)" in rest:
                rest, state = "", "traceback"
            repeated = len(items)
            items.append((name, rest))
    return items + list(reversed(python))


def normal(message: str) -> str:
    """A message without numbers and ids, and not too long."""
    words = re.sub(r"\w*\d\w*", "#", message)
    words = re.sub(r"(?<=-)[0-9a-f]{4}(?![0-9a-z])|(?<![\w])[0-9a-f]{4}(?=-)", "#", words)
    return words[:60]


def errors(texts: list[str]) -> Counter[tuple[tuple[str, ...], str]]:
    """How often each kind occurs in some files."""
    kinds: Counter[tuple[tuple[str, ...], str]] = Counter()
    for text in texts:
        for record in records(text):
            if record.level in ("TRACE", "DEBUG", "INFO"):
                continue
            items = chain(record.lines)
            if items:
                kinds[tuple(name for name, _ in items), normal(items[-1][1])] += 1
            elif record.level in ("ERROR", "FATAL"):
                kinds[(record.logger,), normal(record.lines[0])] += 1
    return kinds
