#!/usr/bin/env python3
"""Count what commands on fixed logs cost: instructions and peak bytes of heap, the same on every run.

    budget.py [ROW...]                        measure, and compare with budget.tsv
    budget.py --update "REASON" [ROW...]      write what was measured, and why it changed
    budget.py --top N ROW                     also the functions with most instructions

Each row of budget.tsv is one command: its name here, instructions, bytes, and the
reason of its last change. callgrind counts, so neither load nor clock matters. The
environment has nothing of the caller's, and the preloaded steady.c shows one
processor. The numbers are those of one compiler and one C library: why_not_here()
says where they do not hold. When two changes of budget.tsv meet, take either and
run --update again.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, NamedTuple, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import amplify  # noqa: E402
import inputs  # noqa: E402
import instructions  # noqa: E402

TABLE = Path(__file__).with_name("budget.tsv")
LOG = ROOT / "corpus" / "logs" / "aqe_off.zst"  # 5 jobs, 13 stages, 1,609 tasks, 4 findings; 10.7 MB of text
SMALL_LOG = ROOT / "corpus" / "logs" / "healthy_sql.zst"  # 102 tasks
APPLICATION = "app-20261121144408-0000"
TOLERANCE = 0.03
LIMIT_S = 300  # of a hang; a busy machine takes long

STATEMENT = "SELECT stage, count(*), sum(run_ms), max(finish_ms - launch_ms) FROM tasks GROUP BY 1 ORDER BY 3 DESC"
WHATIF = ("--sweep", "executors=1..4", "--sweep", "spark.sql.shuffle.partitions=50,100,200,400")
BELOW = f"/api/v1/applications/{APPLICATION}"
REQUESTS = (
    *("/api/v1/applications", BELOW, f"{BELOW}/jobs", f"{BELOW}/stages", f"{BELOW}/stages/1/0/taskSummary"),
    *(f"{BELOW}/stages/1/0/taskList?length=100", f"{BELOW}/executors", f"{BELOW}/environment", f"{BELOW}/sql"),
    f"/pyrometer/v1/applications/{APPLICATION}/-/report",
)


class Cost(NamedTuple):
    instructions: int
    heap_bytes: int


class Row(NamedTuple):
    """One line of the table."""

    cost: Cost
    reason: str


@dataclass(frozen=True)
class Command:
    """What is measured: words after the command's name, in a folder with plain.log, log.zst, small.log and logs/."""

    words: Sequence[str]
    requests: Sequence[str] = ()  # sent one after the other; then SIGTERM


DIAGNOSE = ("diagnose", "--config", "none", "--format", "json", "--threads", "1")
COMMANDS = {
    "version": Command(("version",)),
    "diagnose-small": Command((*DIAGNOSE, "small.log")),
    "diagnose-plain": Command((*DIAGNOSE, "plain.log")),
    "diagnose-zstd": Command((*DIAGNOSE, "log.zst")),
    "sql": Command(("sql", "--threads", "1", "plain.log", STATEMENT)),
    "whatif-sweep": Command(("whatif", "--config", "none", "--threads", "1", *WHATIF, "plain.log")),
    "crawl": Command(("crawl", "--once", "--jobs", "1", "--store", "sqlite:runs.db", "logs")),
    "serve": Command(("serve", "--config", "none", "--no-cache", "--port", "0", "--update-interval", "1d", "logs"), REQUESTS),
}

# ---- Where the numbers hold -----------------------------------------------------------------------------------------


def text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def build_option(binary: Path, name: str) -> Optional[str]:
    """An option of the build folder that the command is in."""
    try:
        options = json.loads(binary.with_name("meson-info").joinpath("intro-buildoptions.json").read_text())
    except (OSError, ValueError):
        return None
    return next((str(row["value"]) for row in options if row["name"] == name), None)


def why_not_here(binary: Path) -> Optional[str]:
    """Why this machine or this build has other numbers than the table; None where they hold."""
    system = dict(re.findall(r'^(\w+)="?([^"\n]*)', text_of("/etc/os-release"), re.MULTILINE))
    if (system.get("ID"), system.get("VERSION_ID")) != ("debian", "12"):
        return "the libraries are not Debian 12's"
    if not re.search(r"^flags\s*:.*\bavx2\b", text_of("/proc/cpuinfo"), re.MULTILINE):
        return "this processor has no AVX2"
    try:
        instructions.counting((), Path())
    except inputs.CannotRun as missing:
        return str(missing)
    said = subprocess.run(["readelf", "-p", ".comment", binary], capture_output=True, text=True, check=False).stdout
    if "GCC: (Debian 12." not in said or "clang" in said:
        return f"{binary} is not built by gcc of Debian 12"
    if build_option(binary, "buildtype") != "release" or build_option(binary, "b_sanitize") not in ("none", "[]"):
        return f"{binary} is not a release build"
    if not steady(binary).is_file():
        return f"{steady(binary)} is missing"
    return None


def steady(binary: Path) -> Path:
    return binary.with_name("tests") / "budget" / "libsteady.so"


# ---- Measuring ------------------------------------------------------------------------------------------------------


def prepare(folder: Path) -> None:
    """The logs, under names of the same length in every folder."""
    (folder / "plain.log").write_bytes(amplify.read_base(LOG))
    (folder / "small.log").write_bytes(amplify.read_base(SMALL_LOG))
    (folder / "logs").mkdir()
    for name in ("log.zst", "logs/log.zst"):
        (folder / name).write_bytes(LOG.read_bytes())


def ask(process: subprocess.Popen[str], requests: Iterable[str]) -> None:
    """Sends the requests to a server on one connection, one after the other, and ends it."""
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://([0-9.]+):([0-9]+)/", line)
    if found is None:
        return
    connection = http.client.HTTPConnection(found.group(1), int(found.group(2)), timeout=LIMIT_S)
    try:
        for path in requests:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise inputs.CannotRun(f"{path}: status {answer.status}")
    finally:
        connection.close()
        process.send_signal(signal.SIGTERM)


def measure(binary: Path, command: Command, top: int = 0, say: Callable[[str], None] = print) -> Cost:
    """Runs it once, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="budget-") as name:
        folder = Path(name)
        prepare(folder)
        (folder / "pyrometer").symlink_to(binary.resolve())
        environment = {"LC_ALL": "C", "TZ": "UTC", "LD_PRELOAD": str(steady(binary).resolve()), "PYRO_HEAP_PEAK": "heap"}
        process = subprocess.Popen(
            instructions.counting(["./pyrometer", *command.words], Path("callgrind.out")),
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            if command.requests:
                ask(process, command.requests)
            _, said = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
        if process.returncode != 0:
            raise inputs.CannotRun(f"pyrometer {' '.join(command.words)}: exit status {process.returncode}\n{said[-1000:]}")
        out = folder / "callgrind.out"
        total = instructions.counted(out)
        for number, function in instructions.top_functions(out, top) if top else ():
            say(f"{number:12d} {100 * number / total:5.1f} %  {function}")
        return Cost(total, int((folder / "heap").read_text()))


# ---- The table ------------------------------------------------------------------------------------------------------


def read_table() -> dict[str, Row]:
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.is_file() else []
    fields = [line.split("\t") for line in lines[1:]]
    return {name: Row(Cost(int(count), int(heap)), reason) for name, count, heap, reason in fields}


def write_table(rows: dict[str, Row]) -> None:
    lines = ["\t".join(("command", *Cost._fields, "reason"))]
    lines += [
        f"{name}\t{rows[name].cost.instructions}\t{rows[name].cost.heap_bytes}\t{rows[name].reason}"
        for name in COMMANDS
        if name in rows
    ]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare(name: str, row: Row, cost: Cost) -> tuple[list[str], list[str]]:
    """What is above the limit, and what is so far below the table that the table should follow."""
    above, below = [], []
    again = f'python3 tests/budget/budget.py --update "REASON" {name}'
    for field, old, new in zip(Cost._fields, row.cost, cost):
        change = f"{name}: {field} {old:,} -> {new:,} ({(new - old) / old:+.1%})"
        if new > old * (1 + TOLERANCE):
            above.append(f"{change}. Make it cheaper, or, if the change is worth it: {again}")
        elif new < old * (1 - TOLERANCE):
            below.append(f"{change}. Keep it: {again}")
    return above, below


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(COMMANDS)} (default all)")
    parser.add_argument("--binary", type=Path, default=ROOT / "build" / "pyrometer", help="command to measure")
    parser.add_argument("--update", metavar="REASON", help="write the numbers, and this reason for rows that change")
    parser.add_argument("--top", type=int, default=0, help="also list this many functions")
    options = parser.parse_args(argv)
    unknown = sorted(set(options.rows) - set(COMMANDS))
    if unknown:
        parser.error(f"there is no row {', '.join(unknown)}")
    binary = options.binary.absolute()
    reason = why_not_here(binary)
    if reason is not None:
        print(f"budget.py: {reason}; the numbers of budget.tsv do not hold here", file=sys.stderr)
        return 2
    rows = read_table()
    failed = False
    for name in options.rows or COMMANDS:
        cost = measure(binary, COMMANDS[name], options.top)
        print(f"{name:15} {cost.instructions:>13,} instructions {cost.heap_bytes:>12,} bytes", flush=True)
        if options.update is not None:
            if name not in rows or rows[name].cost != cost:
                rows[name] = Row(cost, " ".join(options.update.split()))
        elif name in rows:
            above, below = compare(name, rows[name], cost)
            failed = failed or bool(above)
            print("".join(f"    {line}\n" for line in above + below), end="")
    if options.update is not None:
        write_table(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
