"""Times that cannot be, in each time of each kind of event in turn: no output takes them, and the report says so."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
import zstandard

from cli_command import ROOT, Command, pyrometer  # noqa: F401 (fixture)

Event = dict[str, Any]
HOUR = 3_600_000
MINUTE = 60_000
YEARS_53 = 53 * 365 * 24 * HOUR
ABSURD: dict[str, Callable[[int], int]] = {
    "zero": lambda value: 0,
    "minus one": lambda value: -1,
    "least": lambda value: -(1 << 63),
    "most": lambda value: (1 << 63) - 1,
    "of 1969": lambda value: -86_400_000,
    "of 1970": lambda value: 4242,
    "53 years later": lambda value: value + YEARS_53,
    "9 hours earlier": lambda value: value - 9 * HOUR,
}
# Whatever the field is, these cannot be. The others may be: 0 is also what there is none of, the least integer is the
# model's own "unknown", and 4 s are a duration.
IMPOSSIBLE = {"minus one", "most", "of 1969", "53 years later"}
NAMES = re.compile(r"(?i)time|duration|getBatch|addBatch|commit|latestOffset|queryPlanning|triggerExecution")
# Small runs that have, together, all kinds of events with times; and the events that are changed in them.
RUNS = {"skew_files": "", "result_limit": "ExecutorRemoved", "healthy_stream": "QueryProgress"}
# What another event says again, or what the model does not keep.
UNUSED_EVENTS = re.compile(r"TaskStart|TaskGettingResult|StageSubmitted|BlockManager")
UNUSED_FIELDS = re.compile(r"Registration Time|GCTime|stateOperators|batchDuration")
# An application may have waited for 9 hours before its first event.
POSSIBLE = {("SparkListenerApplicationStart", "9 hours earlier")}
TIMED_TABLES = ("applications", "jobs", "stages", "tasks", "executors", "sql", "failures", "streams")


def events_of(name: str) -> list[Event]:
    with open(ROOT / "corpus" / "logs" / f"{name}.zst", "rb") as file:
        lines = zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    if name == "healthy_stream":  # most of its bytes are plans
        events = [event for event in events if "sql.execution.ui" not in event["Event"]]
    return events


def fields_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of the numbers of an event whose name is that of a time."""
    if isinstance(value, dict):
        for key, inside in value.items():
            if key in ("Accumulables", "RDD Info", "Stage Infos") or key.endswith("Properties"):
                continue
            if type(inside) is int and NAMES.search(key):
                yield (*path, key)
            else:
                yield from fields_of(inside, (*path, key))
    elif isinstance(value, list):
        for place, inside in enumerate(value[:1]):
            yield from fields_of(inside, (*path, place))


def get(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def changes_of(events: list[Event], wanted: str) -> Iterator[tuple[int, tuple[Any, ...], str]]:
    """An event of each kind, each of its times, and each change."""
    kinds: dict[str, list[int]] = {}
    for place, event in enumerate(events):
        if wanted in event["Event"]:
            kinds.setdefault(event["Event"], []).append(place)
    for places in kinds.values():
        place = places[len(places) // 2]
        for path in fields_of(events[place]):
            for kind in ABSURD:
                yield place, path, kind


def write_changed(file: Path, lines: list[str], event: Event, place: int, path: tuple[Any, ...], kind: str) -> None:
    event = copy.deepcopy(event)
    get(event, path[:-1])[path[-1]] = ABSURD[kind](get(event, path))
    file.write_text("\n".join([*lines[:place], json.dumps(event), *lines[place + 1 :], ""]))


def numbers_of(value: Any, key: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for name, inside in value.items():
            yield from numbers_of(inside, f"{key}.{name}")
    elif isinstance(value, list):
        for inside in value:
            yield from numbers_of(inside, key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield key, value


def longest(name: str) -> float:
    if "_ns" in name:
        return 8 * HOUR * 1e6
    return 8 * HOUR * (8192 if "mib_ms" in name else 1) if "_ms" in name else float("inf")


def faults_of(document: Any, begin: int, end: int) -> list[str]:
    """Numbers of a document that are negative, of another year, or longer than all cores were busy in these runs."""
    faults = []
    for key, value in numbers_of(document):
        name = key.rsplit(".", 1)[-1]
        if value > 1_000_000_000_000 and "_ms" in name:
            if not begin - MINUTE <= value <= end + MINUTE:
                faults.append(f"{key} = {value}")
        elif value < 0 or value > longest(name):
            faults.append(f"{key} = {value}")
    return faults


@pytest.mark.parametrize("name", RUNS)
def test_no_output_takes_an_absurd_time(pyrometer: Command, tmp_path: Path, name: str) -> None:
    events = events_of(name)
    lines = [json.dumps(event) for event in events]
    (tmp_path / "whole").write_text("\n".join([*lines, ""]))
    whole = json.loads(pyrometer("diagnose", "--format", "json", "whole").stdout)
    begin, end = whole["application"]["start_ms"], whole["application"]["end_ms"]
    assert whole["integrity"]["confidence"] == 1 and not faults_of(whole, begin, end)
    changes = list(changes_of(events, RUNS[name]))
    assert len(changes) > 7
    files = []
    for number, (place, path, kind) in enumerate(changes):
        files.append(f"log-{number:04d}")
        write_changed(tmp_path / files[-1], lines, events[place], place, path, kind)
    reports = json.loads(pyrometer("diagnose", "--format", "json", *files).stdout)["reports"]
    assert len(reports) == len(changes)
    wrong = []
    for file, (place, path, kind), report in zip(files, changes, reports):
        event = events[place]["Event"].rsplit(".", 1)[-1]
        if (event, kind) in POSSIBLE:
            continue
        faults = faults_of(report, begin, end)
        if kind in IMPOSSIBLE and not UNUSED_EVENTS.search(event) and not UNUSED_FIELDS.search(str(path)):
            integrity = report["integrity"]
            if integrity["confidence"] >= 1 or "contradict" not in "\n".join(integrity["notes"]):
                faults.append(f"confidence {integrity['confidence']}")
        if faults:
            wrong.append((file, event, path, kind, faults[:3]))
    assert not wrong, wrong[:10]
    possible = [file for file, (_, _, kind) in zip(files, changes) if kind != "9 hours earlier"]
    check_other_outputs(pyrometer, possible, begin, end)


def check_other_outputs(pyrometer: Command, files: list[str], begin: int, end: int) -> None:
    sample = files[3::29]
    costs = json.loads(pyrometer("cost", "--format", "json", *sample).stdout)
    assert not faults_of(costs, begin, end)
    for file in sample[:: max(1, len(sample) // 4)]:
        for table in TIMED_TABLES:
            rows = json.loads(pyrometer("sql", "--format", "json", file, f"select * from {table}").stdout)
            kept = [{key: value for key, value in row.items() if "watermark" not in key} for row in rows]
            assert not faults_of(kept, begin, end), (file, table)
        predicted = pyrometer("whatif", "--format", "json", "-e", "2", file)
        assert predicted.returncode == 0 and not faults_of(json.loads(predicted.stdout), begin, end), file
