"""Damaged, hostile and absurd input: a report with its integrity stated, or exit 3 with one line; never anything else.

Never a signal, never more than 20 seconds, never more than 600 MB of memory.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import logfiles
import oracle
import pytest
from comparison import differences
from conftest import SANITIZERS, Run, name_of_signal, run_command

# Sanitizers keep what was freed, and shadow all of it.
RSS_LIMIT = 600 * 10**6 * (3 if SANITIZERS else 1)
SAMPLES = 200
# Under sanitizers every fifth variant: each takes six times as long there, and the fuzz targets try far more of them.
STEP = 5 if SANITIZERS or "PYROMETER_QUICK" in os.environ else 1

Variant = Tuple[str, bytes]


def verdict(run: Run) -> Optional[str]:
    """What is wrong with a run on a hostile input, or None."""
    if run.timed_out:
        return run.explain()
    if run.exit < 0:
        return f"ended by {name_of_signal(run.exit)}: {run.explain()}"
    if run.rss_bytes > RSS_LIMIT:
        return f"too much memory: {run.explain()}"
    if run.exit == 3:
        if run.err.count(b"\n") != 1 or not run.err.endswith(b"\n") or run.out:
            return f"exit 3 needs exactly one line on stderr and nothing on stdout: {run.explain()}"
        return None
    if run.exit != 0:
        return run.explain()
    if run.err:
        return f"something on stderr: {run.explain()}"
    try:
        report = json.loads(run.out.decode("utf-8"))
    except ValueError as error:
        return f"no JSON in UTF-8 ({error}): {run.explain()}"
    for one in report.get("reports", [report]):
        problem = verdict_on_report(one)
        if problem:
            return problem
    return None


def verdict_on_report(report: Dict[str, Any]) -> Optional[str]:
    integrity = report.get("integrity") or {}
    missing = {"lines", "bad_lines", "truncated", "confidence"} - set(integrity)
    if missing:
        return f"integrity does not state {sorted(missing)}"
    if not 0 <= integrity["confidence"] <= 1:
        return f"confidence {integrity['confidence']}"
    for account in ("wall", "core"):
        parts = report["accounting"][account]
        if sum(part["ms"] for part in parts["parts"]) != parts["total_ms"]:
            return f"{account} parts do not add up"
    return None


# A log without any of these is not that of a run.
OF_AN_APPLICATION = re.compile(r"ApplicationStart|Job(Start|End)|Stage(Submitted|Completed)|Task(Start|End)|SQLExecution|SQLAdaptiveExecution")


class Bench:
    """Runs many variants of a log and collects what is wrong with them."""

    def __init__(self, diagnose: Callable[..., Run], folder: Path) -> None:
        self.diagnose = diagnose
        self.path = folder / "log"
        self.wrong: List[str] = []
        self.runs = 0

    def run(self, name: str, data: bytes, compare: bool = False) -> Run:
        self.path.write_bytes(data)
        run = self.diagnose(self.path)
        self.runs += 1
        problem = verdict(run)
        if problem:
            self.wrong.append(f"{name}: {problem}")
        elif compare and not SANITIZERS:
            self.compare(name, run)
        return run

    def compare(self, name: str, run: Run) -> None:
        expected = oracle.reports_of(self.path)[0]
        integrity = expected["integrity"]
        known = set(integrity["events"]) - set(integrity["unknown_events"])
        if not any(OF_AN_APPLICATION.search(event) for event in known):
            if run.exit != 3:
                self.wrong.append(f"{name}: no event of an application, but exit {run.exit}")
            return
        if run.exit != 0:
            self.wrong.append(f"{name}: {run.explain()}")
            return
        found = differences(expected, run.json)
        if found:
            self.wrong.append(f"{name}: {len(found)} differences from the oracle, first: " + "; ".join(found[:3]))

    def done(self) -> None:
        assert self.runs > 0
        assert not self.wrong, f"{len(self.wrong)} of {self.runs} runs\n" + "\n".join(self.wrong[:15])


@pytest.fixture()
def bench(diagnose: Callable[..., Run], tmp_path: Path) -> Bench:
    return Bench(diagnose, tmp_path)


@pytest.fixture(scope="module")
def lines(small_log: Path) -> List[bytes]:
    return small_log.read_bytes().splitlines(keepends=True)


@pytest.fixture(scope="module")
def slim(lines: List[bytes]) -> List[bytes]:
    """The same log without what makes it long: cheap enough for many runs."""
    return [line for line in lines if len(line) < 20000]


def sample(rng: random.Random, count: int) -> List[int]:
    """At most SAMPLES numbers below count, in order."""
    return list(range(count) if count <= SAMPLES else sorted(rng.sample(range(count), SAMPLES)))[::STEP]


# ---- logs that lost something -----------------------------------------------------------------------------------


def test_cut_between_events(bench: Bench, lines: List[bytes]) -> None:
    for kept in sample(random.Random(1), len(lines) + 1):
        bench.run(f"first {kept} lines", b"".join(lines[:kept]), compare=True)
    bench.done()


def test_cut_at_any_byte(bench: Bench, slim: List[bytes]) -> None:
    data = b"".join(slim)
    for size in sample(random.Random(2), len(data)):
        bench.run(f"first {size} bytes", data[:size], compare=True)
    bench.done()


def test_compressed_and_cut(bench: Bench, slim: List[bytes]) -> None:
    rng = random.Random(3)
    for codec, encode in logfiles.ENCODERS.items():
        packed = encode(b"".join(slim))
        for size in sorted(rng.sample(range(len(packed)), 40))[::STEP]:
            bench.run(f"{codec}: first {size} bytes", packed[:size])
    bench.done()


def test_events_dropped(bench: Bench, slim: List[bytes]) -> None:
    rng = random.Random(4)
    for round_number in range(0, 100, STEP):
        kept = [line for line in slim if rng.random() > round_number / 100]
        bench.run(f"round {round_number}", b"".join(kept), compare=True)
    names = sorted({json.loads(line)["Event"] for line in slim})
    for name in names:
        kept = [line for line in slim if json.loads(line)["Event"] != name]
        bench.run(f"without any {name}", b"".join(kept), compare=True)
    bench.done()


def test_events_repeated(bench: Bench, slim: List[bytes]) -> None:
    rng = random.Random(5)
    for round_number in range(0, 50, STEP):
        repeated = [line for line in slim for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        bench.run(f"round {round_number}", b"".join(repeated), compare=True)
    bench.run("the whole log twice", b"".join(slim + slim), compare=True)
    bench.done()


def test_events_out_of_order(bench: Bench, slim: List[bytes]) -> None:
    rng = random.Random(6)
    for round_number in range(0, 50, STEP):
        shuffled = slim[:]
        rng.shuffle(shuffled)
        bench.run(f"round {round_number}", b"".join(shuffled))
    bench.done()


# ---- logs that say the same in other words ----------------------------------------------------------------------


def shuffled_keys(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: shuffled_keys(value[key], rng) for key in keys}
    if isinstance(value, list):
        return [shuffled_keys(item, rng) for item in value]
    return value


def without_bytes(report: Dict[str, Any]) -> Dict[str, Any]:
    report["integrity"].pop("bytes", None)
    return report


@pytest.mark.parametrize("style", ["compact", "spaced", "ascii", "crlf", "blank lines"])
def test_key_order_and_spelling_do_not_matter(bench: Bench, slim: List[bytes], style: str) -> None:
    plain = without_bytes(bench.run("as recorded", b"".join(slim)).json)
    rng = random.Random(7)
    for round_number in range(0, 20, STEP):
        out = []
        for line in slim:
            record = shuffled_keys(json.loads(line), rng)
            if style == "spaced":
                out.append(json.dumps(record, ensure_ascii=False, separators=(" ,\t", " :  ")))
            else:
                out.append(json.dumps(record, ensure_ascii=style == "ascii", separators=(",", ":")))
        end = {"crlf": "\r\n", "blank lines": "\n\n \n"}.get(style, "\n")
        run = bench.run(f"{style}, round {round_number}", (end.join(out) + end).encode())
        if run.exit == 0:
            got = without_bytes(run.json)
            if style == "blank lines":
                got["integrity"]["lines"] = plain["integrity"]["lines"]
            if got != plain:
                keys = [key for key in plain if plain[key] != got.get(key)]
                bench.wrong.append(f"{style}, round {round_number}: {keys} differ from the log as recorded")
    bench.done()


def test_names_inside_strings_are_only_text(bench: Bench, slim: List[bytes]) -> None:
    rng = random.Random(8)
    bait = [
        '"Event":"SparkListenerTaskEnd","Stage ID":99',
        '\\"Task Info\\":{\\"Task ID\\":77}',
        '{"Event":"SparkListenerJobStart","Job ID":5}\n{"Event":"SparkListenerTaskEnd"}\n',
        'x"}],"Event":"SparkListenerApplicationEnd","Timestamp":1',
        "\\",
        '\\\\"',
        '}}}}]]]]"',
        "\u2028\u0000\u001f",
    ]

    def poison(value: Any) -> Any:
        if isinstance(value, dict):
            # Not where Spark keeps objects by name: there a text is damage, not bait.
            plain = not value or not all(isinstance(item, dict) for item in value.values())
            out = {rng.choice(bait): rng.choice(bait)} if plain and rng.random() < 0.5 else {}
            out.update({key: poison(item) for key, item in value.items()})
            return out
        if isinstance(value, list):
            return [poison(item) for item in value]
        return value

    for round_number in range(0, 40, STEP):
        data = b"".join(json.dumps(poison(json.loads(line))).encode() + b"\n" for line in slim)
        bench.run(f"round {round_number}", data, compare=True)
    bench.done()


# ---- logs that are not quite JSON -------------------------------------------------------------------------------


def test_corrupt_bytes(bench: Bench, slim: List[bytes]) -> None:
    rng = random.Random(9)
    data = b"".join(slim)
    for round_number in range(0, SAMPLES, STEP):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 5, 50, 2000])):
            damaged[rng.randrange(len(damaged))] = rng.choice(
                [0, 10, 34, 44, 58, 91, 92, 93, 123, 125, 255, rng.randrange(256)]
            )
        bench.run(f"round {round_number}", bytes(damaged))
    bench.done()


def test_corrupt_compressed_bytes(bench: Bench, slim: List[bytes]) -> None:
    rng = random.Random(10)
    for codec, encode in logfiles.ENCODERS.items():
        packed = encode(b"".join(slim))
        for round_number in range(0, 40, STEP):
            damaged = bytearray(packed)
            for _ in range(rng.choice([1, 3, 30])):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            bench.run(f"{codec}, round {round_number}", bytes(damaged))
        bench.run(f"{codec}: magic alone", packed[:8])
        bench.run(f"{codec}: head and noise", packed[:24] + rng.randbytes(100000))
    bench.done()


def numbers() -> Iterator[str]:
    yield from [
        "9" * 300,
        "-" + "9" * 300,
        "1" + "0" * 20,
        str(2**63 - 1),
        str(2**63),
        str(-(2**63)),
        str(-(2**63) - 1),
    ]
    yield from [str(2**64), "1e308", "1e999", "-0", "0.5", "1.7976931348623157e309", "00012", "0x10", "NaN", "Infinity"]
    yield from ["-", "+1", "1.", ".1", "1e", "true", "null", '"12"', "[1]", "{}", '""', "-1"]


def test_absurd_numbers(bench: Bench, slim: List[bytes]) -> None:
    fields = [b'"Finish Time":', b'"Launch Time":', b'"Task ID":', b'"Stage ID":', b'"Timestamp":', b'"Total Cores":']
    fields += [
        b'"Executor CPU Time":',
        b'"Number of Tasks":',
        b'"Job ID":',
        b'"Executor Run Time":',
        b'"Submission Time":',
    ]
    data = b"".join(slim)
    for field in fields:
        at = data.find(field)
        if at < 0:
            continue
        begin = at + len(field)
        end = begin
        while data[end : end + 1] not in (b",", b"}"):
            end += 1
        for number in list(numbers())[::STEP]:
            one = data[:begin] + number.encode() + data[end:]
            bench.run(f"{field.decode()} {number[:24]}", one)
    every = b"".join(slim).replace(b'"Launch Time":1', b'"Launch Time":-9')
    bench.run("all launch times negative", every)
    bench.run("all finish times of 18 digits", data.replace(b'"Finish Time":1', b'"Finish Time":99999'))
    bench.done()


def test_deep_nesting(bench: Bench, slim: List[bytes]) -> None:
    for depth in (100, 1000, 10_000, 1_000_000):
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
            closed = opening * depth + b"1" + closing * depth
            unclosed = b'{"Event":"SparkListenerTaskEnd","a":' + opening * depth
            bench.run(f"{depth} deep, unclosed", slim[0] + unclosed)
            deep = b'{"Event":"SparkListenerTaskEnd","Task Info":' + closed + b"}\n"
            bench.run(f"{depth} deep", slim[0] + deep + b"".join(slim[1:]))
            deep = b'{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":1,"x":' + closed + b"}}\n"
            bench.run(f"{depth} deep in a stage", slim[0] + deep + b"".join(slim[1:]))
    bench.done()


def test_bad_text(bench: Bench, slim: List[bytes]) -> None:
    names = [
        b"\xff\xfe\xfd",
        b"\xc3",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\\ud800",
        b"\\udc00\\ud800",
        b"\\ud83d",
        b"\\u12",
        b"\\u0000",
        b"\\x41",
        b"\x00\x01\x1f",
        b"\xef\xbb\xbf",
        b"<script>alert(1)</script>&amp;",
        b"\\u001b[31m",
        b"n" * 100_000,
    ]
    for name in names:
        start = (
            b'{"Event":"SparkListenerApplicationStart","App Name":"'
            + name
            + b'","App ID":"a","Timestamp":1,"User":"u"}\n'
        )
        run = bench.run(repr(name[:30]), slim[0] + start)
        if run.exit == 0 and any(0xD800 <= ord(char) < 0xE000 for char in str(run.json["application"]["name"])):
            bench.wrong.append(f"{name[:30]!r}: a lone surrogate in the report")
    bom = b"\xef\xbb\xbf" + b"".join(slim)
    bench.run("byte order mark", bom)
    bench.run("UTF-16", b"".join(slim).decode("utf-8", "replace").encode("utf-16"))
    bench.done()


def test_json_that_is_no_event_log(bench: Bench) -> None:
    for data in (
        b"",
        b"\n",
        b"\n\n\n\n",
        b"{}",
        b"[]",
        b"null\n",
        b'"SparkListenerTaskEnd"\n',
        b'{"Event":null}\n',
        b'{"Event":5}\n',
        b'{"Event":"NoSuchEvent"}\n' * 10,
        b'{"event":"SparkListenerTaskEnd"}\n',
        b"\0" * 100_000,
        b"plain text\n" * 1000,
        b"\x28\xb5\x2f\xfd",
        b"PK\x03\x04",
        bytes(range(256)) * 100,
    ):
        run = bench.run(repr(data[:40]), data)
        if run.exit != 3:
            bench.wrong.append(f"{data[:40]!r}: exit {run.exit}, not 3")
    bench.done()


def test_events_with_nothing_in_them(bench: Bench) -> None:
    for name in sorted(oracle.KNOWN_EVENTS)[::STEP]:
        for rest in (
            b"",
            b',"Task Info":null,"Stage Info":null,"Executor Info":null',
            b',"Stage Info":[],"Task Info":"x"',
        ):
            data = b'{"Event":"' + name.encode() + b'"' + rest + b"}\n"
            bench.run(name, data, compare=True)
    bench.done()


# ---- sizes ------------------------------------------------------------------------------------------------------


def test_one_line_of_200_mb(bench: Bench, slim: List[bytes], tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < 10**9:
        pytest.skip("less than 1 GB free for a line of 200 MB")
    megabyte = b"x" * 2**20
    for head, tail in (
        (b'{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.x":"', b'"}}\n'),
        (b'{"Event":"SparkListenerTaskEnd","Stage ID":0,"junk":"', b'"}\n'),
        (b"", b""),
    ):
        with open(bench.path, "wb") as stream:
            stream.write(b"".join(slim[:5]) + head)
            for _ in range(200):
                stream.write(megabyte)
            stream.write(tail + b"".join(slim[5:]))
        run = bench.diagnose(bench.path)
        bench.runs += 1
        problem = verdict(run)
        if problem:
            bench.wrong.append(f"{head[:40]!r}: {problem}")
    bench.path.unlink()
    bench.done()


def test_zstd_bomb(bench: Bench, slim: List[bytes]) -> None:
    import zstandard

    bomb = zstandard.ZstdCompressor(level=1).compress(b"".join(slim[:5]) + b'{"Event":"' + b"\0" * (400 << 20))
    bench.run("400 MB of zeros in one line", bomb)
    bench.done()


# ---- paths without a log ----------------------------------------------------------------------------------------


def refused(run: Run) -> None:
    problem = verdict(run)
    assert problem is None, problem
    assert run.exit == 3, run.explain()


def test_missing_file(diagnose: Callable[..., Run], tmp_path: Path) -> None:
    run = diagnose(tmp_path / "no such log")
    refused(run)
    assert b"no such log" in run.err


def test_folder_without_logs(diagnose: Callable[..., Run], tmp_path: Path) -> None:
    refused(diagnose(tmp_path))
    (tmp_path / "deeper").mkdir()
    (tmp_path / ".hidden").write_text("{}")
    (tmp_path / "appstatus_x").touch()
    refused(diagnose(tmp_path))


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"])
def test_device(diagnose: Callable[..., Run], device: str) -> None:
    if not os.path.exists(device):
        pytest.skip(f"{device} does not exist here")
    refused(diagnose(device))


def test_socket(diagnose: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        refused(diagnose(tmp_path / "socket"))


def test_named_pipe(diagnose: Callable[..., Run], slim: List[bytes], tmp_path: Path) -> None:
    """A pipe without a writer must not hang the search of a folder; given by name it is read or refused."""
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "log").write_bytes(b"".join(slim))
    run = diagnose(folder)
    assert verdict(run) is None, verdict(run)
    assert run.exit == 0, run.explain()


def test_links_in_a_circle(diagnose: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    refused(diagnose(tmp_path / "a"))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "again").symlink_to(folder)
    refused(diagnose(folder))


def test_no_permission(binary: str, small_log: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    shutil.copy(small_log, closed)
    closed.chmod(0)
    refused(run_command(as_another(binary, tmp_path, "diagnose", "--format", "json", str(closed))))


def test_no_permission_below_a_folder(binary: str, small_log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep" / "er").mkdir(parents=True)
    shutil.copy(small_log, folder / "open")
    closed = folder / "deep" / "er" / "closed"
    shutil.copy(small_log, closed)
    closed.chmod(0)
    run = run_command(as_another(binary, tmp_path, "diagnose", "--format", "json", str(folder)))
    assert verdict(run) is None and run.exit == 0, run.explain()
    (one,) = json.loads(run.out)["unreadable"]
    assert one["path"] == str(closed) and "ermission" in one["error"]


def as_another(binary: str, folder: Path, *arguments: str) -> List[str]:
    """A command that does not run as root, who may read everything."""
    if os.geteuid() != 0:
        return [binary, *arguments]
    other = shutil.which("setpriv")
    if not other:
        pytest.skip("running as root, and there is no setpriv to stop being root")
    command = [other, "--reuid=65534", "--regid=65534", "--clear-groups"]
    for parent in [folder, *folder.parents]:
        if parent.owner() == "root" and str(parent).startswith("/tmp/") and parent != Path("/tmp"):
            parent.chmod(0o755)
    if subprocess.run([*command, binary, "version"], capture_output=True, check=False).returncode != 0:
        pytest.skip("another user cannot run the binary here")
    return [*command, binary, *arguments]


def test_strange_names(diagnose: Callable[..., Run], small_log: Path, tmp_path: Path) -> None:
    for name in (b"-", b"--help", b"new\nline", b"\xff\xfe", b"\x1b[31mred", b'quo"te', b"%s%n%d", b"a" * 255):
        path = os.path.join(os.fsencode(tmp_path), name)
        shutil.copy(small_log, path)
        run = diagnose(os.fsdecode(path))
        assert verdict(run) is None, (name, verdict(run))
        assert run.exit == 0, run.explain()
        os.unlink(path)
        refused(diagnose(os.fsdecode(path)))


def test_rolling_log_with_holes(diagnose: Callable[..., Run], slim: List[bytes], tmp_path: Path) -> None:
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    third = len(slim) // 3
    (folder / "events_1_app-1").write_bytes(b"".join(slim[:third]))
    (folder / "events_3_app-1").write_bytes(b"".join(slim[2 * third :]))
    run = diagnose(folder)
    assert verdict(run) is None, verdict(run)
    assert run.exit == 0, run.explain()
    whole = tmp_path / "whole"
    whole.write_bytes(b"".join(slim))
    assert run.json["integrity"]["confidence"] < diagnose(whole).json["integrity"]["confidence"]
    (folder / "events_2_app-1").mkdir()
    (folder / "events_x_app-1").write_bytes(b"\0")
    assert verdict(diagnose(folder)) is None
