"""Traces: every event, time and field against what babeltrace2 prints; damaged and made traces."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

import pytest

from conftest import SANITIZERS, run_command
from trace_kit import SLOTS, Dump, Event, Reference, Value, dump_program, dumped, references, run_dump, signed, unpacked
from trace_writer import CTF2_EXPECTED, LOSSES, TSDL_EXPECTED, write_ctf2, write_losses, write_tsdl
from tsdl_to_ctf2 import convert

TRACES = os.environ.get("PYROMETER_TRACES")
RECORDED = ("many-threads", "synctraces/scp_src", "synctraces/scp_dest", "context-switches/context-switches-ust")
WITH_BABELTRACE = pytest.mark.skipif(not shutil.which("babeltrace2"), reason="babeltrace2 is not installed")
WITH_TRACES = pytest.mark.skipif(not TRACES, reason="PYROMETER_TRACES does not name a folder of recorded traces")
COMMON = {"*": ("prev_comm|comm|procname", "prev_tid|prev_pid|vtid|tid", "prev_state|fd|args.1", "next_tid|next_pid", "cpu_id", "id", "ret")}


def recorded(name: str) -> Path:
    return Path(str(TRACES)) / name


def fields_of(events: Sequence[Reference]) -> Dict[str, List[str]]:
    """All fields that an event of a name ever has."""
    fields: Dict[str, Dict[str, None]] = {}
    for event in events:
        fields.setdefault(event.name, {}).update(dict.fromkeys(filter(is_readable, event.fields)))
    return {name: list(found) for name, found in fields.items()}


def place(event: Event) -> Tuple[int, int, str]:
    """Events of the same time may have another order."""
    return event.time_ns, event.cpu, event.name


def is_same(mine: Value, other: Value) -> bool:
    """babeltrace2 2.0.4 shows the text of an earlier event where that of this one is empty."""
    return mine == other or (mine == "" and isinstance(other, str))


def is_readable(field: str) -> bool:
    """Elements of arrays are read if they are numbers."""
    return not re.search(r"\.\d+\.|^names\.", field)


def compare(folder: Path, scratch: Path) -> None:
    """Every field of every event, twelve at a time."""
    expected = references(folder)
    assert expected
    fields = fields_of(expected)
    for first in range(0, max(map(len, fields.values())), SLOTS):
        wanted = {name: found[first : first + SLOTS] for name, found in fields.items() if first < len(found) or first == 0}
        dump = dumped(wanted, scratch, folder)
        theirs = [
            Event(event.time_ns, event.cpu, event.name, tuple(signed(event.fields.get(field)) for field in wanted[event.name]))
            for event in expected
            if event.name in wanted
        ]
        ours = dump.events[: len(theirs)]
        assert Counter(event.name for event in ours) == Counter(event.name for event in theirs)
        for mine, other in zip(sorted(ours, key=place), sorted(theirs, key=place)):
            assert place(mine) == place(other)
            assert all(map(is_same, mine.values, other.values)), (mine, other)
        assert all(a.time_ns <= b.time_ns for a, b in zip(dump.events, dump.events[1:]))


# ---- Recorded traces --------------------------------------------------------------------------------------------------


@pytest.fixture(name="perf")
def perf_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "perf"
    folder.mkdir()
    return unpacked("perf", folder)


@WITH_BABELTRACE
def test_perf_events_are_those_of_babeltrace(perf: Path, tmp_path: Path) -> None:
    compare(perf, tmp_path)


@WITH_BABELTRACE
@WITH_TRACES
@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_events_are_those_of_babeltrace(name: str, tmp_path: Path) -> None:
    compare(recorded(name), tmp_path)


def test_perf_trace(perf: Path, tmp_path: Path) -> None:
    dump = dumped(COMMON, tmp_path, perf)
    assert dump.counts == {
        "sched:sched_switch": 27,
        "sched:sched_wakeup": 8,
        "raw_syscalls:sys_enter": 1470,
        "raw_syscalls:sys_exit": 1470,
        "block:block_rq_issue": 16,
    }
    assert len(dump.events) == sum(dump.counts.values()) and not dump.losses
    version, host, tracer, domain, numbers, axis, clock, uuid, machine, offset, streams, size, problem = dump.traces[0]
    assert (version, host, tracer, domain, numbers, axis, clock) == ("18", "test-host", "perf", "kernel", "-1.-1", "relative", "perf_clock")
    assert (len(uuid), machine, offset, streams, problem) == (36, "x86_64", "0", "2", "")
    assert int(size) == sum(path.stat().st_size for path in perf.glob("perf_stream_*"))


@WITH_TRACES
def test_facts_of_lttng(tmp_path: Path) -> None:
    kernel, user = (dumped({}, tmp_path, recorded(name)).traces[0] for name in ("many-threads", "context-switches/context-switches-ust"))
    assert kernel[:7] == ["18", "wilbrod", "lttng-modules", "kernel", "2.8", "absolute", "monotonic"]
    assert kernel[8:10] == ["", "1457111225177515989"]
    assert user[:7] == ["18", "qemu1", "lttng-ust", "ust", "2.6", "absolute", "monotonic"]


@pytest.mark.parametrize("indent", (None, 2))
def test_perf_as_version_2(perf: Path, tmp_path: Path, indent: int) -> None:
    same_events(perf, convert(perf, tmp_path / "two", indent), tmp_path)


@WITH_TRACES
@pytest.mark.parametrize("name", RECORDED)
def test_lttng_as_version_2(name: str, tmp_path: Path) -> None:
    same_events(recorded(name), convert(recorded(name), tmp_path / "two"), tmp_path)


def same_events(one: Path, two: Path, scratch: Path) -> None:
    before, after = (dumped(COMMON, scratch, folder) for folder in (one, two))
    assert before.events and after == before._replace(traces=after.traces)
    assert after.traces[0][0] == "2" and after.traces[0][1:] == before.traces[0][1:]


def test_several_traces_are_one_list(perf: Path, tmp_path: Path) -> None:
    alone = dumped(COMMON, tmp_path, perf)
    both = dumped(COMMON, tmp_path, perf, perf)
    assert [event for event in both.events[::2]] == alone.events == [event for event in both.events[1::2]]


# ---- Made traces ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ("le", "be"))
@pytest.mark.parametrize("packed", (False, True))
def test_types_of_version_1(order: str, packed: bool, tmp_path: Path) -> None:
    folder = write_tsdl(tmp_path / "made", order, packed)
    for wanted, expected in TSDL_EXPECTED:
        assert [event.values for event in dumped(wanted, tmp_path, folder).events] == expected


@WITH_BABELTRACE
@pytest.mark.parametrize("order", ("le", "be"))
def test_types_of_version_1_are_those_of_babeltrace(order: str, tmp_path: Path) -> None:
    compare(write_tsdl(tmp_path / "made", order, False), tmp_path)


def test_types_of_version_2(tmp_path: Path) -> None:
    folder = write_ctf2(tmp_path / "made")
    for wanted, expected in CTF2_EXPECTED:
        assert [event.values for event in dumped(wanted, tmp_path, folder).events] == expected


def test_losses(tmp_path: Path) -> None:
    """Counters of 16 bits that wrap, numbers of packets with a gap, a clock of 27 bits that wraps, a cut file."""
    dump = dumped({"tick": ("n",)}, tmp_path, write_losses(tmp_path / "made"))
    assert dump.losses == LOSSES
    assert [(event.time_ns, event.values[0]) for event in dump.events] == [(1000, 1), (2000, 2), (2**27 + 5, 3), (2**28 + 3, 4), (2**29, 5)]


def test_other_files_are_named(perf: Path, tmp_path: Path) -> None:
    expected = dumped(COMMON, tmp_path, perf)
    (perf / "notes.txt").write_text("something else")
    (perf / ".hidden").write_text("something else")
    (perf / "empty").write_text("")
    (perf / "index").mkdir()
    dump = dumped(COMMON, tmp_path, perf)
    assert dump.events == expected.events
    assert dump.traces[0][-1] == "notes.txt is not a stream of this trace"


BROKEN: Sequence[Tuple[str, str]] = (
    ("", "the file is empty"),
    ("/* CTF 1.8 */\ntrace {\n", "line 3 of the metadata: the name of an attribute is missing"),
    ("/* CTF 1.8 */\n\nstream {\n event.header := struct { uint8_t id; };\n};", "line 4 of the metadata: a type is not known"),
    ("/* CTF 1.8 */\ntypealias integer { size = 3; align = 3; } := x;", "line 2 of the metadata: an alignment is not a power of 2"),
    ("/* CTF 1.8 */\nenv { a = 99999999999999999999; };", "line 2 of the metadata: a number has more than 64 bits"),
    ("/* CTF 1.8 */\nevent { fields := " + "struct { " * 60, "line 2 of the metadata: types are nested too deeply"),
    ("/* CTF 1.8 */\nevent {\n fields := struct { string a[b]; };\n};", "the field that has the length or the selector of another is not known"),
    ("/* x", "line 1 of the metadata: a comment does not end"),
    ("\x1e{\"type\": \"preamble\",\n \"version\": 3}", "line 2 of the metadata: this version of the format is not known"),
    ("\x1e{\"type\": \"preamble\",\n \"version\": ", "line 2 of the metadata: the record ends early"),
    (
        "\x1e{\"type\": \"preamble\", \"version\": 2}\n\x1e{\"type\": \"event-record-class\",\n\"payload-field-class\": {\"type\": \"structur\"}}",
        "line 3 of the metadata: the type of a field class is not known",
    ),
    (
        "\x1e" + '{"type": "field-class-alias", "field-class": ' + '{"type": "static-length-array", "length": 2, "element-field-class": ' * 60,
        "field classes are nested too deeply",
    ),
)


@pytest.mark.sanitize
@pytest.mark.parametrize("text, why", BROKEN)
def test_metadata_that_cannot_be_read(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text(text)
    run = run_dump(COMMON, tmp_path, tmp_path)
    assert run.exit == 3 and why in run.err.decode(), run.explain()


# ---- Damaged traces ---------------------------------------------------------------------------------------------------


def survives(folder: Path, scratch: Path) -> Dump:
    """It ends by itself, with events or with an error."""
    run = run_dump(COMMON, scratch, folder)
    assert run.exit in (0, 3) and not run.timed_out, run.explain()
    return dumped(COMMON, scratch, folder) if run.exit == 0 else Dump([], [], [], {})


@pytest.mark.sanitize
def test_cut_streams(perf: Path, tmp_path: Path) -> None:
    whole = dumped(COMMON, tmp_path, perf)
    stream = perf / "perf_stream_0"
    data = stream.read_bytes()
    places = random.Random(1).sample(range(1, len(data)), 50)
    for place in places[:: 5 if SANITIZERS else 1]:
        stream.write_bytes(data[:place])
        dump = survives(perf, tmp_path)
        assert set(dump.events) <= set(whole.events)
        missing = len(whole.events) - len(dump.events)
        assert missing == 0 or dump.losses or "perf_stream_0" in dump.traces[0][-1]
        assert all(loss[5] == "stream cut" for loss in dump.losses)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ("perf_stream_0", "metadata"))
def test_changed_bytes(perf: Path, tmp_path: Path, name: str) -> None:
    path = perf / name
    data = path.read_bytes()
    generator = random.Random(2)
    for _ in range(10 if SANITIZERS else 50):
        damaged = bytearray(data)
        for _ in range(generator.choice((1, 1, 5, 50))):
            damaged[generator.randrange(len(damaged))] = generator.choice((0, 0xFF, generator.randrange(256)))
        path.write_bytes(bytes(damaged))
        survives(perf, tmp_path)


@pytest.mark.sanitize
def test_changed_metadata_of_version_2(tmp_path: Path) -> None:
    folder = write_ctf2(tmp_path / "made")
    data = (folder / "metadata").read_bytes()
    generator = random.Random(3)
    for _ in range(10 if SANITIZERS else 50):
        damaged = bytearray(data)
        for _ in range(generator.choice((1, 1, 5))):
            damaged[generator.randrange(len(damaged))] = generator.choice(b'0123456789"{}[],:xz')
        (folder / "metadata").write_bytes(bytes(damaged))
        survives(folder, tmp_path)


@pytest.mark.sanitize
def test_what_is_not_a_file(tmp_path: Path) -> None:
    """A FIFO without a writer is not waited for."""
    os.mkfifo(tmp_path / "metadata")
    run = run_command([dump_program(), "-", str(tmp_path)])
    assert run.exit == 3 and not run.timed_out, run.explain()
