#!/usr/bin/env python3
"""Close the loop: run a faulty program, diagnose it, repair it as the report says, run it again.

    python3 corpus/loop/record.py --cache /tmp                    # all cases, three rounds: hours
    python3 corpus/loop/record.py --cache /tmp --rounds 1 NAME    # one case, once before and once after
    python3 corpus/loop/record.py --summary                       # only what the manifest has

Rounds of one case take turns: before, after, before, after. The promise is what `pyrometer diagnose` says of the first run
before. It is written to the manifest before the first repaired run starts, and never changes. The settings of that run are
those of the report's `plan`, taken from its JSON. Runs that are in the manifest are not run again. The machine must be quiet:
see corpus/quiet.py.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "corpus"))
sys.path.insert(0, str(ROOT / "tests" / "record"))
sys.path.insert(0, str(HERE))
import quiet  # noqa: E402
import spark_runs as sr  # noqa: E402
from cases import CASES, Case  # noqa: E402
from tpch_data import prepare_gzip, prepare_modules, prepare_stock, prepare_tables  # noqa: E402

MANIFEST = HERE / "manifest.json"
DEFAULT_WORKDIR = Path("/tmp/pyrometer-loop")
EXECUTORS, CORES = 2, 1
FOREIGN_SHARE_WRITING = 0.3
SIDES = ("before", "after")
Row = dict[str, Any]


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
    return quiet.run(
        sr.make_venv(cache, case.version, case.packages),
        workdir,
        program,
        FOREIGN_SHARE_WRITING if case.writes else quiet.FOREIGN_SHARE,
    )


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
        "actions": [
            {"id": one["id"], "cures": one["cures"], "config": one["config"], "saves_ms": one["saves"]["wall_ms"]}
            for one in report["actions"]
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
        "series": case.series,
        "faults": list(case.faults),
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
    log, times = quiet.repeat(
        f"{case.name} {side}", lambda: run_once(case, side, entry, options.cache, options.workdir)
    )
    if not entry[side]:
        sr.compress(log, HERE / "logs" / f"{case.name}-{side}.zst")
    if side == "before" and entry["promise"] is None:
        entry["promise"] = promise_of(case, options.binary, log)
    entry[side].append(times)
    save(entries)
    print(f"{case.name} {side} {times['ms']:,} ms", json.dumps(entry["promise"]["saves_ms"]), flush=True)


def repairable(case: Case, entry: Row) -> bool:
    """Tell whether the report said what to do, or the program is repaired in any case: then it shows what was missed."""
    return case.kind == "code" or (case.kind != "healthy" and entry["promise"]["saves_ms"] is not None)


def prepare(cache: Path, workdir: Path) -> None:
    """Write the tables, and the modules that the jobs share."""
    tables = workdir / "data" / "tpch"
    prepare_tables(cache, tables)
    prepare_gzip(tables)
    prepare_modules(workdir)
    prepare_stock(cache, workdir, HERE / "jobs" / "stock.py")
    (HERE / "logs").mkdir(exist_ok=True)


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names of cases (all)")
    parser.add_argument("--cache", type=sr.absolute_path, default=sr.DEFAULT_CACHE, help="for the venvs")
    parser.add_argument("--workdir", type=sr.absolute_path, default=DEFAULT_WORKDIR)
    parser.add_argument("--binary", default=str(ROOT / "build" / "pyrometer"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--series", type=int, help="only the cases of this series")
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
            if options.cases and case.name not in options.cases or options.series not in (None, case.series):
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
