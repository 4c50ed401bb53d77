#!/usr/bin/env python3
"""Close the loop: run a faulty program, diagnose it, repair it as the report says, run it again.

    python3 corpus/loop/record.py --cache /tmp                    # all cases, three rounds: hours
    python3 corpus/loop/record.py --cache /tmp --rounds 1 NAME    # one case, once before and once after
    python3 corpus/loop/record.py --summary                       # only what the manifest has

Rounds of one case take turns: before, after, before, after. The promise is what `pyrometer diagnose` says of the first run
before. It is written to the manifest before the first repaired run starts, and never changes. The settings of that run are
those of the report's `plan`, taken from its JSON. Runs that are in the manifest are not run again. The script waits for a
quiet machine. It discards a run during which other programs used a processor, and one before or after which the processors
were slower than they have been: other guests of the same host are not seen otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "corpus"))
sys.path.insert(0, str(ROOT / "tests" / "record"))
sys.path.insert(0, str(HERE))
import spark_runs as sr  # noqa: E402
from cases import CASES, Case  # noqa: E402
from tpch_data import prepare_gzip, prepare_tables  # noqa: E402

MANIFEST = HERE / "manifest.json"
DEFAULT_WORKDIR = Path("/tmp/pyrometer-loop")
EXECUTORS, CORES = 2, 1
QUIET_S, QUIET_SHARE, QUIET_WAIT_S = 5, 0.03, 900
FOREIGN_SHARE, FOREIGN_SHARE_WRITING, ATTEMPTS = 0.06, 0.3, 3
SAMPLE_S, DEPTH = 0.5, 8
KERNEL = 2  # the parent of the kernel's threads
SLOWER_MAX, WORK_BYTES = 1.12, 128 << 20
SIDES = ("before", "after")
Row = dict[str, Any]


class BusyMachineError(Exception):
    """Other programs used the processors."""


# ---- a quiet machine ----


def busy_s() -> float:
    """Return the seconds that all processors have worked since the start of the machine."""
    words = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, *_ = (int(word) for word in words)
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet() -> None:
    """Wait until nothing else has run for some seconds; the load average would still be that of the run before."""
    end = time.monotonic() + QUIET_WAIT_S
    while True:
        before = busy_s()
        time.sleep(QUIET_S)
        if busy_s() - before < QUIET_SHARE * QUIET_S * (os.cpu_count() or 1):
            return
        if time.monotonic() > end:
            raise BusyMachineError(f"other programs used the processors for {QUIET_WAIT_S} s")


def work_s() -> float:
    """Return how long a fixed piece of work takes a processor now, the least of three."""
    block = bytes(1 << 20)
    times = []
    for _ in range(3):
        began, digest = time.perf_counter(), hashlib.sha256()
        for _ in range(WORK_BYTES >> 20):
            digest.update(block)
        times.append(time.perf_counter() - began)
    return min(times)


def check_speed(workdir: Path) -> float:
    """Return the time of that work; raise where it is much longer than the least that was seen on this machine."""
    kept = workdir / "least_work_s"
    now = work_s()
    least = min(now, float(kept.read_text(encoding="ascii"))) if kept.exists() else now
    kept.write_text(f"{least:.4f}", encoding="ascii")
    if now > SLOWER_MAX * least:
        raise BusyMachineError(f"the processors take {now / least:.2f} times as long as they did")
    return now


class Family:
    """The processor time of a process and of all that it started, sampled: ended ones count as last seen.

    The times of waited children would leave out Python workers, which nobody waits for. What the kernel's own threads do
    meanwhile, such as writing files to the disk, is done for it too.
    """

    def __init__(self) -> None:
        self.used: dict[tuple[int, str], float] = {}
        self.kernel: dict[tuple[int, str], float] = {}  # what each thread had used before
        self.stop = threading.Event()
        self.thread: threading.Thread | None = None

    def watch(self, process: subprocess.Popen) -> None:
        """Begin to sample, when the process has started."""
        self.thread = threading.Thread(target=self._sample, args=(process.pid,), daemon=True)
        self.thread.start()

    def _sample(self, root: int) -> None:
        known = {root}
        while not self.stop.wait(SAMPLE_S):
            rows = list(processes())
            for _ in range(DEPTH):
                known |= {pid for pid, parent, _, _ in rows if parent in known}
            for pid, parent, started, used in rows:
                if pid in known:
                    self.used[pid, started] = used
                elif parent == KERNEL:
                    self.used[pid, started] = used - self.kernel.setdefault((pid, started), used)

    def seconds(self) -> float:
        """End sampling; return the seconds of all."""
        self.stop.set()
        if self.thread:
            self.thread.join()
        return sum(self.used.values())


def processes() -> Iterator[tuple[int, int, str, float]]:
    """Yield each process: its id, its parent's, when it started, and the processor time that it has used."""
    tick = os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        yield int(folder.name), int(words[1]), words[19], (int(words[11]) + int(words[12])) / tick


# ---- one run ----


def settings_of(case: Case, side: str, entry: Row) -> dict[str, str]:
    """Return the properties of a run: the case's own, and the report's plan for a repaired one."""
    conf = {"spark.executor.memory": case.memory, **case.conf}
    if side == "after" and case.kind != "code":
        conf.update(entry["promise"]["settings"])
    return conf


def run_once(case: Case, side: str, entry: Row, cache: Path, workdir: Path) -> tuple[Path, Row]:
    """Run the program; return its log and times."""
    conf = settings_of(case, side, entry)
    executors = int(conf.get("spark.executor.instances", EXECUTORS))
    cores = int(conf.get("spark.executor.cores", CORES))
    master = f"local-cluster[{executors},{cores},{sr.megabytes(conf['spark.executor.memory'])}]"
    script = HERE / "jobs" / f"{case.repaired_script if side == 'after' else case.script}.py"
    program = sr.Run(f"loop_{case.name}", script, master, conf, timeout_s=400)
    wait_for_quiet()
    venv, family = sr.make_venv(cache, case.version), Family()
    check_speed(workdir)
    busy, began = busy_s(), time.monotonic()
    try:
        sr.run_to_end(venv, workdir, program, workdir / "events", started=family.watch)
    finally:
        own = family.seconds()
    foreign = max(busy_s() - busy - own, 0)
    share = foreign / ((time.monotonic() - began) * (os.cpu_count() or 1))
    if share > (FOREIGN_SHARE_WRITING if case.writes else FOREIGN_SHARE):
        raise BusyMachineError(f"other programs used {100 * share:.0f} % of the processors")
    work = check_speed(workdir)
    log = next(sr.logs_in(workdir / "events"))
    return log, {**measure(log), "foreign_share": round(share, 3), "work_s": round(work, 3)}


def measure(log: Path) -> Row:
    """Return the run's time from its first executor's registration, and from its start, by Spark's own events."""
    begin = first = end = tasks = 0
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith('{"Event":"SparkListenerTaskEnd'):
                tasks += 1
            elif line.startswith('{"Event":"SparkListenerApplicationStart'):
                begin = json.loads(line)["Timestamp"]
            elif line.startswith('{"Event":"SparkListenerExecutorAdded') and not first:
                first = json.loads(line)["Timestamp"]
            elif line.startswith('{"Event":"SparkListenerApplicationEnd'):
                end = json.loads(line)["Timestamp"]
    return {"ms": end - first, "wall_ms": end - begin, "tasks": tasks}


# ---- the promise ----


def promise_of(case: Case, binary: str, log: Path) -> Row:
    """Return what the report says of a run: findings, the plan and what it saves, or what the case's rule saves."""
    done = subprocess.run([binary, "diagnose", str(log), "--format", "json"], capture_output=True, check=True, text=True)
    report = json.loads(done.stdout)
    duration = report["accounting"]["wall"]["total_ms"]
    loud = [one for one in report["findings"] if one["severity"] != "low"]
    promise: Row = {
        "duration_ms": duration,
        "findings": [
            {"id": one["id"], "severity": one["severity"], "saves_ms": one["saves"]["wall_ms"]} for one in loud
        ],
        "settings": {},
        "saves_ms": None,
    }
    if case.kind == "code":
        matching = [one for one in report["findings"] if one["rule"] == case.rule]
        promise["saves_ms"] = matching[0]["saves"]["wall_ms"] if matching else None
        promise["advice"] = [advice["text"] for one in matching[:1] for advice in one["advice"]]
    elif report["plan"]:
        wall = report["plan"]["wall_ms"]
        promise["settings"] = report["plan"]["settings"]
        promise["saves_ms"] = {
            "low": duration - wall["high"],
            "expected": duration - wall["expected"],
            "high": duration - wall["low"],
        }
    return promise


# ---- the manifest ----


def load() -> dict[str, Row]:
    """Return the entries by case."""
    if not MANIFEST.exists():
        return {}
    return {one["case"]: one for one in json.loads(MANIFEST.read_text(encoding="utf-8"))["cases"]}


def save(entries: dict[str, Row]) -> None:
    """Write the manifest in the order of the cases, whole or not at all."""
    ordered = [entries[case.name] for case in CASES if case.name in entries]
    text = json.dumps({"schema": "pyrometer.loop/1", "cases": ordered}, indent=1) + "\n"
    draft = MANIFEST.with_suffix(".new")
    draft.write_text(text, encoding="utf-8")
    draft.replace(MANIFEST)


def entry_of(case: Case) -> Row:
    return {
        "case": case.name,
        "script": case.script,
        "kind": case.kind,
        "split": case.split,
        "spark_version": case.version,
        "memory": case.memory,
        "settings": case.conf,
        "promise": None,
        "before": [],
        "after": [],
    }


def record(case: Case, side: str, entries: dict[str, Row], options: argparse.Namespace) -> None:
    """Add one run of one side to the case's entry, and keep the log of the first."""
    entry = entries.setdefault(case.name, entry_of(case))
    for attempt in range(ATTEMPTS):
        try:
            log, times = run_once(case, side, entry, options.cache, options.workdir)
            break
        except BusyMachineError as error:
            print(f"{case.name} {side}: discarded: {error}", file=sys.stderr, flush=True)
            if attempt + 1 == ATTEMPTS:
                raise
    if not entry[side]:
        sr.compress(log, HERE / "logs" / f"{case.name}-{side}.zst")
    if side == "before" and entry["promise"] is None:
        entry["promise"] = promise_of(case, options.binary, log)
    entry[side].append(times)
    save(entries)
    print(f"{case.name} {side} {times['ms']:,} ms", json.dumps(entry["promise"]["saves_ms"]), flush=True)


def repairable(case: Case, entry: Row) -> bool:
    """Tell whether the report said what to do."""
    return case.kind != "healthy" and entry["promise"]["saves_ms"] is not None


def prepare(cache: Path, workdir: Path) -> None:
    """Write the tables, and put the modules that the jobs share beside them."""
    tables = workdir / "data" / "tpch"
    prepare_tables(cache, tables)
    prepare_gzip(tables)
    shutil.copy(ROOT / "corpus" / "jobs" / "common.py", workdir)
    for name in ("tpch", "warm"):
        shutil.copy(ROOT / "corpus" / "whatif" / "jobs" / f"{name}.py", workdir)
    (HERE / "logs").mkdir(exist_ok=True)


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names of cases (all)")
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venvs")
    parser.add_argument("--workdir", type=sr.absolute_path, default=DEFAULT_WORKDIR)
    parser.add_argument("--binary", default=str(ROOT / "build" / "pyrometer"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--summary", action="store_true", help="only print what the manifest has")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    unknown = set(options.cases) - {case.name for case in CASES}
    if unknown:
        print(f"unknown case {min(unknown)}; known: {', '.join(case.name for case in CASES)}", file=sys.stderr)
        return 2
    entries, failed = load(), 0
    if options.summary:
        for entry in entries.values():
            times = {side: [one["ms"] for one in entry[side]] for side in SIDES}
            print(entry["case"], times, entry["promise"]["saves_ms"])
        return 0
    prepare(options.cache, options.workdir)
    for number in range(1, options.rounds + 1):
        for case in CASES:
            if options.cases and case.name not in options.cases:
                continue
            for side in SIDES:
                entry = entries.get(case.name, entry_of(case))
                if len(entry[side]) >= number or (side == "after" and not repairable(case, entry)):
                    continue
                try:
                    record(case, side, entries, options)
                except Exception as error:  # one bad run must not lose the others
                    print(f"{case.name} {side}: {error}", file=sys.stderr, flush=True)
                    failed += 1
                    break
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
