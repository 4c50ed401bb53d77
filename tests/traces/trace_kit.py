"""What the tests of traces share: the reader's lines, and the same events as babeltrace2 prints them."""

from __future__ import annotations

import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Tuple

from conftest import ROOT, Run, binary_path, run_command

DATA = ROOT / "tests" / "traces" / "data"
SLOTS = 12
Value = Any  # an int, a str, a float, None, a list or a dict of them


class Event(NamedTuple):
    """One event, with the fields that were asked for."""

    time_ns: int
    cpu: int
    name: str
    values: Tuple[Value, ...]


class Dump(NamedTuple):
    """What ctf_dump prints."""

    events: List[Event]
    losses: List[Tuple[int, int, int, int, int, str]]  # trace, cpu, from, until, events, why
    traces: List[List[str]]
    counts: Dict[str, int]


def unpacked(name: str, folder: Path) -> Path:
    """The folder of a trace of tests/traces/data."""
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        for member in archive.getmembers():
            if member.isfile():
                target = folder / Path(member.name).name
                source = archive.extractfile(member)
                assert source
                target.write_bytes(source.read())
    return folder


def text_of(written: str) -> str:
    return re.sub(r"\\x(..)", lambda match: chr(int(match[1], 16)), written)


def value_of(written: str) -> Value:
    if written == "-":
        return None
    return text_of(written[1:]) if written.startswith('"') else int(written)


def dump_program() -> str:
    return str(binary_path().parent / "tests" / "traces" / "ctf_dump")


def run_dump(wanted: Dict[str, Sequence[str]], scratch: Path, *folders: Path) -> Run:
    rows = scratch / "wanted"
    rows.write_text("".join("\t".join((name, *fields)) + "\n" for name, fields in wanted.items()))
    return run_command([dump_program(), str(rows), *map(str, folders)])


def dumped(wanted: Dict[str, Sequence[str]], scratch: Path, *folders: Path) -> Dump:
    run = run_dump(wanted, scratch, *folders)
    assert run.exit == 0, run.explain()
    dump = Dump([], [], [], {})
    for line in run.out.decode().splitlines():
        kind, *fields = line.split("\t")
        if kind == "event":
            dump.events.append(Event(int(fields[0]), int(fields[2]), fields[3], tuple(map(value_of, fields[4:]))))
        elif kind == "lose":
            trace, cpu, begin, end, events = map(int, fields[:5])
            dump.losses.append((trace, cpu, begin, end, events, fields[5]))
        elif kind == "trace":
            dump.traces.append(fields)
        else:
            dump.counts[fields[1]] = dump.counts.get(fields[1], 0) + int(fields[2])
    return dump


# ---- babeltrace2 ----------------------------------------------------------------------------------------------------

LINE = re.compile(r"\[(?P<seconds>-?\d+)\.(?P<ns>\d{9})\] (?:(?P<host>.+?) )?(?P<name>\S+): (?P<fields>\{.*)")
TOKEN = re.compile(r'\s*(?:"(?P<text>(?:\\.|[^"\\])*)"|(?P<word>[\w.+-]+)|(?P<mark>[{}\[\](),=:<>]))')
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unescaped(text: str) -> str:
    def plain(match: "re.Match[str]") -> str:
        return chr(int(match[1][1:], 16)) if match[1].startswith("x") else ESCAPES.get(match[1], match[1])

    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", plain, text)


class Fields:
    """Reads "{ a = 1, b = "x" }, { ... }"."""

    def __init__(self, text: str) -> None:
        self.tokens = [("text", unescaped(match["text"])) if match["text"] is not None else ("word", match[0].strip()) for match in TOKEN.finditer(text)]
        self.at = 0

    def next(self) -> Tuple[str, str]:
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) and self.tokens[self.at][0] == "word" else ""

    def members(self, end: str) -> Iterator[Tuple[str, Value]]:
        while self.peek() != end:
            name = self.next()[1]
            if name == "[":  # "[0] = ..."
                name = self.next()[1]
                self.next()
            assert self.next()[1] == "="
            yield name, self.value()
            if self.peek() == ",":
                self.next()
        self.next()

    def value(self) -> Value:
        kind, token = self.next()
        if kind == "text":
            return token
        if token == "{":
            named = self.peek() == "}" or self.tokens[self.at + 1] == ("word", "=")
            if named:
                return dict(self.members("}"))
            chosen = self.value()  # what a variant has
            self.next()
            return chosen
        if token == "[":
            return [value for _, value in self.members("]")]
        if token == "(":  # an enumeration: ( "label" : container = 1 ), or only its number
            number = None
            while token != ")":
                kind, token = self.next()
                if kind == "word" and re.fullmatch(r"-?\d+|0[xX][0-9a-fA-F]+", token):
                    number = int(token, 0)
            return number
        if re.fullmatch(r"-?\d+", token):
            return int(token)
        if re.fullmatch(r"0x[0-9a-fA-F]+", token, re.I):
            return int(token, 16)
        if re.fullmatch(r"0[0-7]+", token):
            return int(token, 8)
        return float(token)

    def groups(self) -> List[Dict[str, Value]]:
        found = []
        while self.at < len(self.tokens):
            found.append(self.value())
            if self.peek() == ",":
                self.next()
        return found


class Reference(NamedTuple):
    """One event as babeltrace2 has it."""

    time_ns: int
    cpu: int
    name: str
    fields: Dict[str, Value]  # of the payload and of contexts, flat: "args.0"


def flat(prefix: str, value: Value) -> Iterator[Tuple[str, Value]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from flat(f"{prefix}.{name}" if prefix else name, inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from flat(f"{prefix}.{place}", inner)
    else:
        yield prefix, value


def references(folder: Path) -> List[Reference]:
    """Up to the first event that babeltrace2 cannot sort, if there is one."""
    command = ["babeltrace2", "--clock-seconds", "--no-delta", str(folder)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=120)
    found = []
    for line in run.stdout.decode("utf-8", "replace").splitlines():
        match = LINE.match(line)
        assert match, line
        fields: Dict[str, Value] = {}
        cpu = -1
        for group in Fields(match["fields"]).groups():
            cpu = group.pop("cpu_id", cpu) if "cpu_id" in group and not fields else cpu
            fields.update(flat("", group))
        found.append(Reference(int(match["seconds"]) * 10**9 + int(match["ns"]), cpu, match["name"], fields))
    return found


def signed(value: Value) -> Value:
    """As the reader gives it: 64 bits with a sign, reals rounded."""
    if isinstance(value, float):
        return int(value + 0.5) if value >= 0 else -int(0.5 - value)
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value
