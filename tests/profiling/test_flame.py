"""pyrometer flame: each format read back by a program of its own, choices, differences, and what is refused."""

from __future__ import annotations

import gzip
import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest

from profile_kit import ROOT, binary_path, flame, folded, run_command
from test_records import START, TASK_FRAMES, stack, write

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return write(tmp_path / "Stacktrace.json", [
        stack(["c", "b", "a"], 5),
        stack(["d", "b", "a"], 3, threadState="WAITING", threadName="idle"),
        stack(["/x/job.py:f:9", "a"], 2, startEpoch=START + 2000, endEpoch=START + 3000, name="911@node-1"),
        stack(["/x/job.py:f:12", "a"], 1, threadState="BLOCKED", startEpoch=START + 2000, endEpoch=START + 3000),
        stack(TASK_FRAMES, 4, threadName="Executor task launch worker for task 0.0 in stage 3.0 (TID 5)"),
    ])


def counted(stacks: List[Tuple[str, int]]) -> Dict[str, int]:
    return dict(stacks)


def test_choices(tmp_path: Path, records: Path) -> None:
    out = tmp_path / "o.folded"
    task = ";".join(reversed(TASK_FRAMES))
    assert counted(folded(out, records)) == {"a;b;c": 5, "a;b;d": 3, "a;/x/job.py:f:9": 2, "a;/x/job.py:f:12": 1, task: 4}
    assert counted(folded(out, records, "--event", "cpu")) == {"a;b;c": 5, "a;/x/job.py:f:9": 2, task: 4}
    assert sum(counted(folded(out, records, "--event", "wall")).values()) == 15
    assert counted(folded(out, records, "--process", 911)) == {"a;/x/job.py:f:9": 2}
    assert counted(folded(out, records, "--from", START + 2000)) == {"a;/x/job.py:f:9": 2, "a;/x/job.py:f:12": 1}
    assert sum(counted(folded(out, records, "--to", "2019-02-14T10:10:07Z")).values()) == 12
    assert sum(counted(folded(out, records, "--to", "2019-02-14T11:10:07.000+01:00")).values()) == 12
    assert counted(folded(out, records, "--stage", 3)) == {task: 4}
    assert counted(folded(out, records, "--merge-lines"))["a;/x/job.py:f"] == 3
    combined = folded(out, records, "--combined")
    assert {stack_text.split(";")[0] for stack_text, _ in combined} == {"node-1"}
    assert {stack_text.split(";")[1] for stack_text, _ in combined} == {"JVM"}


def test_jvm_and_python_below_one_root(tmp_path: Path) -> None:
    """The executor of a file is in its name."""
    worker = {"stacktrace": ["/x/job.py:f:9"], "count": 2, "epochMillis": START, "pid": 12, "host": "node-1", "stageId": 0}
    folder = tmp_path / "profiles"
    folder.mkdir()
    write(folder / "executor-3-stacks.json", [stack(["a"], 5)])
    write(folder / "executor-3-workers.json", [worker])
    write(folder / "driver.json", [stack(["d"], 1)])
    write(folder / "other.json", [worker])
    assert folded(tmp_path / "o.folded", folder, "--combined") == [
        ("driver;JVM;d", 1),
        ("executor 3;JVM;a", 5),
        ("executor 3;Python;/x/job.py:f:9", 2),
        ("node-1;Python;/x/job.py:f:9", 2),
    ]


def test_difference(tmp_path: Path) -> None:
    before = write(tmp_path / "before.json", [stack(["b", "a"], 6), stack(["c", "a"], 2), stack(["gone"], 2)])
    after = write(tmp_path / "after.json", [stack(["b", "a"], 1), stack(["c", "a"], 8), stack(["new"], 1)])
    run = flame("--diff", before, after, "-o", tmp_path / "o.folded")
    assert run.exit == 0, run.explain()
    assert (tmp_path / "o.folded").read_text() == "a;b 6 1\na;c 2 8\ngone 2 0\nnew 0 1\n"
    assert flame("--diff", before, after, "-o", tmp_path / "o.svg").exit == 0
    boxes = {box["name"]: box for box in boxes_of(tmp_path / "o.svg")}
    assert boxes["a;c"]["fill"].startswith("#fa")  # more than before: red
    assert boxes["a;b"]["fill"].endswith("fa") and not boxes["a;b"]["fill"].startswith("#fa")  # less: blue
    assert "before 2, change 60.00 points" in boxes["a;c"]["title"]
    for arguments in (["--diff", before], ["--diff", before, after, after]):
        assert flame(*arguments, "-o", tmp_path / "o.svg").exit == 2
    run = flame("--diff", before, after, "-o", tmp_path / "o.pb.gz")
    assert run.exit == 2 and b".svg" in run.err


# ---- Formats -------------------------------------------------------------------------------------------------------


def boxes_of(path: Path) -> List[Dict[str, Any]]:
    """The boxes of a picture, with the names from the outermost one on, found by their places only."""
    found: List[Dict[str, Any]] = []
    for group in ElementTree.parse(path).getroot().iter(SVG + "g"):
        rect, title = group.find(SVG + "rect"), group.find(SVG + "title")
        assert rect is not None and title is not None and title.text
        box: Dict[str, Any] = {key: float(rect.attrib[key]) for key in ("x", "y", "width")}
        box.update(fill=rect.attrib["fill"], title=title.text, frame=title.text.rpartition(" (")[0])
        found.append(box)
    row = 17
    for box in found:
        below = [o for o in found if o["y"] == box["y"] + row and o["x"] <= box["x"] + 0.01 and o["x"] + o["width"] >= box["x"] + box["width"] - 0.01]
        assert len(below) <= 1
        box["below"] = below[0] if below else None
    for box in found:
        names, at = [], box
        while at["below"] is not None:
            names.append(at["frame"])
            at = at["below"]
        assert at["frame"] == "all"
        box["name"] = ";".join(reversed(names))
    return found


def test_svg(tmp_path: Path, records: Path) -> None:
    expected: Counter[str] = Counter()
    for stack_text, weight in folded(tmp_path / "o.folded", records):
        frames = stack_text.split(";")
        for depth in range(len(frames) + 1):
            expected[";".join(frames[:depth])] += weight
    assert flame(records, "-o", tmp_path / "o.svg").exit == 0
    boxes = boxes_of(tmp_path / "o.svg")
    assert len(boxes) == len(expected)
    for box in boxes:
        assert box["width"] == pytest.approx(1180 * expected[box["name"]] / 15, abs=0.01)
        assert f"({expected[box['name']]} samples, " in box["title"]
    assert "http" not in (tmp_path / "o.svg").read_text().replace("http://www.w3.org/", "")


def test_folded_of_hostile_names(tmp_path: Path) -> None:
    """Nothing in a frame ends it or its line, or changes the order of what is read."""
    path = tmp_path / "in.folded"
    path.write_text("main;a\u202eb\u2028c\u0085d\u2066e\u061cf\u200fg 3\n", encoding="utf-8")
    assert folded(tmp_path / "out.folded", path) == [("main;a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\ufffdg", 3)]


def test_svg_of_hostile_names(tmp_path: Path) -> None:
    names = ['</title><script>alert(1)</script>', ']]>&"\'', "\u202e\u0007\ud83d", "x" * 3000, ""]
    path = write(tmp_path / "s.json", [stack(names, 1)])
    assert flame(path, "-o", tmp_path / "o.svg").exit == 0
    root = ElementTree.parse(tmp_path / "o.svg").getroot()
    assert len(list(root.iter(SVG + "script"))) == 1
    assert len(list(root.iter(SVG + "g"))) == 6


def fields_of(data: bytes) -> Iterator[Tuple[int, Any]]:
    """Fields of a message of protocol buffers: numbers and bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2
            size = varint()
            yield key >> 3, data[at : at + size]
            at += size
            assert at <= len(data)


def packed(data: bytes) -> List[int]:
    return [value for _, value in fields_of(b"".join(b"\x08" + part for part in split_varints(data)))]


def split_varints(data: bytes) -> Iterator[bytes]:
    start = 0
    for at, byte in enumerate(data):
        if byte < 0x80:
            yield data[start : at + 1]
            start = at + 1


def stacks_of_pprof(path: Path) -> List[Tuple[str, int]]:
    """As proto/profile.proto of pprof describes it."""
    profile = list(fields_of(gzip.decompress(path.read_bytes())))
    strings = [value.decode() for number, value in profile if number == 6]
    assert strings[0] == ""
    functions = {message[1]: message for message in (dict(fields_of(value)) for number, value in profile if number == 5)}
    frames = {}
    for number, value in profile:
        if number == 4:
            location = dict(fields_of(value))
            line = dict(fields_of(location[4]))
            function = functions[line[1]]
            file = strings[function[4]]
            text = strings[function[2]]
            frames[location[1]] = (f"{file}:" if file else "") + text + (f":{line[2]}" if 2 in line else "")
    kinds = [dict(fields_of(value)) for number, value in profile if number == 1]
    assert [(strings[kind[1]], strings[kind[2]]) for kind in kinds] == [("samples", "count")]
    found = []
    for number, value in profile:
        if number == 2:
            sample = dict(fields_of(value))
            found.append((";".join(frames[location] for location in reversed(packed(sample.get(1, b"")))), sample[2]))
    return found


def test_pprof(tmp_path: Path, records: Path) -> None:
    stacks = folded(tmp_path / "o.folded", records)
    assert flame(records, "-o", tmp_path / "o.pb.gz").exit == 0
    assert stacks_of_pprof(tmp_path / "o.pb.gz") == stacks
    assert (tmp_path / "o.pb.gz").read_bytes()[4:8] == b"\0\0\0\0"  # no time


def test_speedscope(tmp_path: Path, records: Path) -> None:
    """By what the schema of speedscope requires of a sampled profile."""
    stacks = folded(tmp_path / "o.folded", records)
    assert flame(records, "-o", tmp_path / "o.speedscope.json").exit == 0
    document = json.loads((tmp_path / "o.speedscope.json").read_text())
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    (profile,) = document["profiles"]
    assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "none", 0)
    assert profile["endValue"] == sum(profile["weights"]) == 15
    frames = document["shared"]["frames"]
    texts = [(f"{f['file']}:" if "file" in f else "") + f["name"] + (f":{f['line']}" if "line" in f else "") for f in frames]
    assert [(";".join(texts[i] for i in sample), weight) for sample, weight in zip(profile["samples"], profile["weights"])] == stacks


@pytest.mark.parametrize("suffix", [".folded", ".svg", ".speedscope.json", ".pb.gz"])
def test_the_same_bytes_every_time(tmp_path: Path, records: Path, suffix: str) -> None:
    for name in ("one", "two"):
        assert flame(records, "-o", tmp_path / (name + suffix)).exit == 0
    assert (tmp_path / ("one" + suffix)).read_bytes() == (tmp_path / ("two" + suffix)).read_bytes()


# ---- Refusals ------------------------------------------------------------------------------------------------------


def test_what_is_no_profile(tmp_path: Path, records: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("24/03/01 10:15:02 INFO Executor: Running task 0.0 in stage 1.0 (TID 3)\n")
    run = flame(text, "-o", tmp_path / "o.svg")
    assert run.exit == 3 and b"notes.txt: is not a profile" in run.err and not (tmp_path / "o.svg").exists()
    run = flame(text, records, "-o", tmp_path / "o.svg")
    assert run.exit == 0 and b"notes.txt" in run.err
    run = flame(tmp_path / "missing", "-o", tmp_path / "p.svg")
    assert run.exit == 3 and b"cannot open" in run.err
    (tmp_path / "empty").mkdir()
    assert flame(tmp_path / "empty", "-o", tmp_path / "p.svg").exit == 3


def test_a_folder(tmp_path: Path, records: Path) -> None:
    folder = tmp_path / "profiles" / "executor-1"
    folder.mkdir(parents=True)
    records.rename(folder / "Stacktrace.json")
    (tmp_path / "profiles" / "notes.txt").write_text("nothing\n")
    run = flame(tmp_path / "profiles", "-o", tmp_path / "o.folded")
    assert run.exit == 0 and run.err == b""


def test_wrong_command_lines(tmp_path: Path, records: Path) -> None:
    out = tmp_path / "o.svg"
    wrong = [
        [records],
        [records, "-o", tmp_path / "o.png"],
        [records, "-o", out, "--task", "x"],
        [records, "-o", out, "--from", "yesterday"],
        [records, "-o", out, "--from", "2024-13-01T00:00:00Z"],
        [records, "-o", out, "--event", "disk"],
        ["-o", out],
    ]
    for arguments in wrong:
        assert flame(*arguments).exit == 2, arguments
    assert not out.exists()


def test_records_that_say_too_little(tmp_path: Path, records: Path) -> None:
    plain = tmp_path / "in.folded"
    plain.write_text("a;b 3\n")
    run = flame(plain, "-o", tmp_path / "o.svg", "--from", START)
    assert run.exit == 3 and b"in.folded: its records have no times" in run.err
    run = flame(plain, "-o", tmp_path / "o.svg", "--task", 7)
    assert run.exit == 3 and b"in.folded: none of its records names a task" in run.err
    run = flame(plain, records, "-o", tmp_path / "o.folded", "--stage", 3)
    assert run.exit == 0 and b"in.folded: none of its records names a stage" in run.err
    run = flame(plain, "-o", tmp_path / "o.svg", "--event", "cpu")
    assert run.exit == 3 and b"do not say of which event" in run.err
    run = flame(records, "-o", tmp_path / "o.svg", "--event", "alloc")
    assert run.exit == 3 and b"events of the samples that were read: cpu, wall" in run.err


RIDDLE = ROOT / "corpus" / "riddles" / "logs" / "slacker_jvm" / "faulty"


def test_owners_of_the_event_log(tmp_path: Path) -> None:
    """Recordings name no task. With the event log, a stage has the samples that SQL gives to it."""
    recordings = sorted(RIDDLE.glob("profile-exec-*.jfr.zst"))
    alone = flame(*recordings, "--event", "wait", "--stage", 0, "-o", tmp_path / "o.folded")
    assert alone.exit == 3 and b"none of its records names a stage" in alone.err
    question = "SELECT stage, sum(weight) AS weight FROM samples WHERE event = 'wait' GROUP BY stage ORDER BY stage"
    answer = run_command([str(binary_path()), "sql", str(RIDDLE), question, "-f", "json"]).json
    weights = {row["stage"]: row["weight"] for row in answer}
    stages = [stage for stage in weights if stage is not None]
    assert stages
    for stage in stages:
        run = flame(RIDDLE, "--event", "wait", "--stage", stage, "-o", tmp_path / "o.folded")
        assert run.exit == 0, run.explain()
        graph = (tmp_path / "o.folded").read_text().splitlines()
        assert sum(int(line.rpartition(" ")[2]) for line in graph) == weights[stage]
        share = 100 * weights[None] / sum(weights.values())
        assert f"{share:.1f} % of the samples name no stage for certain".encode() in run.err
    (log,) = RIDDLE.glob("app-*")
    assert folded(tmp_path / "p.folded", log, *recordings, "--event", "wait", "--stage", stages[-1]) == folded(
        tmp_path / "q.folded", RIDDLE, "--event", "wait", "--stage", stages[-1])
    run = flame(RIDDLE, "--event", "wait", "--task", 3, "-o", tmp_path / "o.folded")
    assert run.exit == 3 and b"no sample is left" in run.err  # what follows from stacks is not certain enough
    run = flame("--diff", RIDDLE, RIDDLE, "--event", "wait", "--stage", stages[-1], "-o", tmp_path / "o.folded")
    assert run.exit == 0, run.explain()
    for line in (tmp_path / "o.folded").read_text().splitlines():
        before, after = line.split(" ")[-2:]
        assert before == after
    twice = flame(RIDDLE, RIDDLE.parent / "repaired", "--stage", 0, "-o", tmp_path / "o.folded")
    assert twice.exit == 2 and b"several event logs" in twice.err


def test_the_pictures_of_the_tutorial_are_made_by_its_commands(tmp_path: Path) -> None:
    """A changed picture: run the command of docs/riddles.md again."""
    text = (ROOT / "docs" / "riddles.md").read_text()
    commands = re.findall(r"^    pyrometer flame (.*) -o docs/(images/.*[.]svg)$", text, re.MULTILINE)
    assert len(commands) >= 2
    for arguments, picture in commands:
        assert f"]({picture})" in text
        paths = [str(ROOT / word) if word.startswith("corpus/") else word for word in arguments.split()]
        run = flame(*paths, "-o", tmp_path / "o.svg")
        assert run.exit == 0, run.explain()
        assert (tmp_path / "o.svg").read_bytes() == (ROOT / "docs" / picture).read_bytes(), picture
