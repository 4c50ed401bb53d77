#!/usr/bin/env python3
"""Measure the verbs for text logs and profiles: speed and memory, next to other programs on the same input.

    python3 bench/text_logs.py [--runs 5] [--update-docs]

Inputs are recorded logs and profiles, repeated: a million lines, of which Drain3 gets the first ones. Ids of tasks and stages are new in each repetition, and times go on. The
lines of `unlike` have nothing in common but their form. The 20 GB are the million lines again and again, compressed, next to
the event log of the run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Optional

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
import bench  # noqa: E402
import measuring  # noqa: E402
from log_templates import VENV  # noqa: E402

ARTEFACTS = ROOT / "tests" / "artefacts"
CACHE = ROOT / ".cache" / "bench"
MARKS = ("<!-- text logs: begin -->\n", "<!-- text logs: end -->\n")
LINES = 1_000_000
LARGE = 20_000_000_000
TIME = re.compile(rb"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d")
IDS = re.compile(rb"\b(TID |stage )(\d+)")
FORM = "%y/%m/%d %H:%M:%S"
DRAIN3 = r"""
import sys
from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig
config = TemplateMinerConfig()
config.profiling_enabled = False
miner = TemplateMiner(config=config)
for number, line in enumerate(open(sys.argv[1], encoding="utf-8", errors="replace")):
    if number == int(sys.argv[2]):
        break
    miner.add_log_message(line[18:].rstrip("\n"))
print(len(miner.drain.clusters))
"""


@dataclass(frozen=True)
class Row:
    """A program and its input; `aim_s` and `aim_mb` are the most that it may take."""

    program: str
    source: str
    command: list[str]
    slow: bool = False
    aim_s: Optional[float] = None
    aim_mb: Optional[int] = None


# ---- Inputs ---------------------------------------------------------------------------------------------------------


def recorded_lines() -> list[bytes]:
    """Return the lines of a recorded run: the driver's, then those of each executor."""
    files = sorted((ARTEFACTS / "logs" / "spark35").rglob("*.gz"))
    return [line for path in files for line in gzip.decompress(path.read_bytes()).splitlines(keepends=True)]


def repeated(lines: Sequence[bytes], count: int) -> Iterator[bytes]:
    """Yield that many lines. Each repetition is a day later, and its tasks and stages are new."""
    made = 0
    for turn in range(count):
        for line in lines:
            found = TIME.match(line)
            if found:
                when = datetime.strptime(found.group().decode(), FORM) + timedelta(days=turn % 10_000)
                line = when.strftime(FORM).encode() + line[found.end() :]
            yield IDS.sub(lambda match: match[1] + str(int(match[2]) + 1000 * turn).encode(), line)
            made += 1
            if made == count:
                return


def unlike(count: int) -> Iterator[bytes]:
    """Yield lines of random words."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(5000)]
    for number in range(count):
        when = datetime(2026, 11, 23) + timedelta(seconds=number // 20)
        yield f"{when.strftime(FORM)} INFO Work: {' '.join(chance.choices(words, k=chance.randint(4, 12)))}\n".encode()


def stack_records(size: int) -> Iterator[bytes]:
    """Yield stacks as Uber's profiler writes them."""
    folded = gzip.decompress((ARTEFACTS / "profiles" / "async.collapsed.gz").read_bytes()).decode().splitlines()
    made = turn = 0
    while made < size:
        for line in folded:
            stack, count = line.rsplit(" ", 1)
            record = {
                "name": "Stacktrace",
                "processUuid": "00000000-0000-0000-0000-000000000001",
                "appId": "app-20261123194048-0000",
                "role": "executor",
                "host": "worker",
                "startEpoch": 1_795_460_000_000 + 60_000 * turn,
                "endEpoch": 1_795_460_060_000 + 60_000 * turn,
                "threadName": "Executor task launch worker",
                "threadState": "RUNNABLE",
                "count": int(count),
                "stacktrace": stack.split(";")[::-1],
            }
            text = f"{json.dumps(record)}\n".encode()
            made += len(text)
            yield text
        turn += 1


def chunks(size: int) -> Iterator[bytes]:
    """Yield the chunks of a recording of Java Flight Recorder again and again."""
    one = gzip.decompress((ARTEFACTS / "profiles" / "spark.jfr.gz").read_bytes())
    for _ in range(size // len(one) + 1):
        yield one


def made(name: str, parts: Callable[[], Iterator[bytes]]) -> Path:
    """Make the file, unless it exists."""
    path = CACHE / "text" / name
    if not path.exists():
        bench.say(f"making {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_suffix(".new")
        file: IO[bytes]
        with begun.open("wb") as file:
            file.writelines(parts())
        begun.rename(path)
    with path.open("rb") as file:
        while file.read(1 << 20):  # its pages are in memory then
            pass
    return path


def large(lines: Path) -> Path:
    """Make a folder with an event log and a text log of 20 GB."""

    def members() -> Iterator[bytes]:
        text = lines.read_bytes()
        member = gzip.compress(text)
        for _ in range(LARGE // len(text) + 1):
            yield member

    folder = made("large/driver.log.gz", members).parent
    shutil.copy(ARTEFACTS / "logs" / "spark35" / "events.zst", folder)
    return folder


# ---- Rows -----------------------------------------------------------------------------------------------------------


def drain3() -> str:
    """Return the interpreter that has it."""
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(python), "-m", "pip", "-q", "--disable-pip-version-check", "install", "drain3"], check=True)
    return str(python)


def rows(binary: str) -> list[Row]:
    run = str(made("driver.log", lambda: repeated(recorded_lines(), LINES)))
    noise = str(made("unlike.log", lambda: unlike(LINES)))
    stacks = str(made("stacks.json", lambda: stack_records(25_000_000)))
    jfr = str(made("executor.jfr", lambda: chunks(1_000_000_000)))
    nothing = str(CACHE / "text" / "out.folded")
    run_folder = str(large(Path(run)))
    all_of_it = "--no-input-limits"
    return [
        Row("`pyrometer logs top`", "recorded", [binary, "logs", "top", run], aim_s=1, aim_mb=200),
        Row("`pyrometer logs errors`", "recorded", [binary, "logs", "errors", run], aim_s=1, aim_mb=200),
        Row("`pyrometer logs timeline`", "recorded", [binary, "logs", "timeline", run]),
        Row("`wc -l`", "recorded", ["wc", "-l", run]),
        Row("Drain3", "recorded, 100,000 lines", [drain3(), "-c", DRAIN3, run, "100000"], slow=True),
        Row("`pyrometer logs top`", "unlike", [binary, "logs", "top", noise], aim_s=1, aim_mb=200),
        Row("`pyrometer logs errors`", "unlike", [binary, "logs", "errors", noise], aim_s=1, aim_mb=200),
        Row("Drain3", "unlike, 10,000 lines", [drain3(), "-c", DRAIN3, noise, "10000"], slow=True),
        Row("`pyrometer logs top`", "20 GB", [binary, "logs", "top", all_of_it, run_folder], slow=True, aim_mb=512),
        Row("`pyrometer logs errors`", "20 GB", [binary, "logs", "errors", all_of_it, run_folder], slow=True, aim_mb=512),
        Row("`pyrometer diagnose`", "20 GB", [binary, "diagnose", all_of_it, run_folder], slow=True, aim_mb=512),
        Row("`pyrometer flame`", "25 MB of stacks", [binary, "flame", stacks, "-o", nothing], aim_s=0.3),
        Row("`pyrometer flame`", "1 GB of JFR", [binary, "flame", jfr, "-o", nothing], aim_mb=512),
    ]


def verdict(row: Row, cost: measuring.Cost) -> str:
    """Return whether the aims are met."""
    aims = []
    if row.aim_s is not None:
        aims.append((f"{row.aim_s:g} s", cost.wall_s <= row.aim_s))
    if row.aim_mb is not None:
        aims.append((f"{row.aim_mb} MB", cost.peak_bytes <= row.aim_mb * 1_000_000))
    return ", ".join(f"{text}: {'met' if met else '**not met**'}" for text, met in aims)


def document(measured: Sequence[tuple[Row, measuring.Cost]], runs: int) -> str:
    """Return the table as Markdown."""
    lines = ["| program | input | wall, s | CPU, s | peak memory | aims |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for row, cost in measured:
        cells = (row.program, row.source, f"{cost.wall_s:.2f}", f"{cost.cpu_s:.2f}", f"{cost.peak_bytes / 1e6:.0f} MB")
        lines.append(f"| {' | '.join(cells)} | {verdict(row, cost)} |")
    facts = "\n".join(f"- {name}: {value}" for name, value in measuring.machine())
    return "\n".join(lines) + f"\n\nMedians of {runs} runs; Drain3, and what reads 20 GB, ran once.\n\n{facts}\n"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "pyrometer")
    parser.add_argument("--wait", type=float, default=bench.WAIT_S, metavar="SECONDS", help="for an idle machine")
    parser.add_argument("--update-docs", action="store_true", help="put the result into docs/benchmarks.md")
    options = parser.parse_args(argv)
    meter = measuring.Meter(CACHE)
    all_rows = rows(str(options.binary))
    load = bench.wait_for_quiet(wait_s=options.wait)
    measured = []
    for row in all_rows:
        costs = [meter.run(row.command) for _ in range(1 if row.slow else options.runs)]
        measured.append((row, measuring.median(costs)))
        bench.say(f"{row.program}, {row.source}: {measured[-1][1].wall_s:.2f} s")
    text = document(measured, options.runs)
    print(text)
    if options.update_docs and not bench.publish({MARKS: text}, [load]):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
