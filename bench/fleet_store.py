#!/usr/bin/env python3
"""Time questions to a store with many runs, or (--views) the views of `pyrometer fleet`.

The runs are real: the logs of corpus/logs are recorded once with 'pyrometer diagnose --store', and their rows are then copied
under other ids, names, users and times. Reports are not copied, since no question reads them, and of the aggregates only
--aggregates names.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "fleet"))
from repeated_runs import NAMES  # noqa: E402  (aggregates that views ask for)

BINARY = ROOT / "build" / "pyrometer"
DAY_MS = 86_400_000
STEP = 1000  # between keys of a run and its next copy

COPIES = {
    "run": (
        "SELECT key + n.value * :step, app_id || '-' || n.value, attempt, name || '-' || (n.value % 40), user || (n.value % 200),"
        " spark_version, master, status, start_ms - n.value % 365 * 86400000 + n.value * 7919 % 86400000,"
        " end_ms - n.value % 365 * 86400000 + n.value * 7919 % 86400000, duration_ms, core_ms * (1 + n.value % 7), confidence,"
        " recorded_ms, path, application || '-' || (n.value % 40), type, version, tag, 'queue' || (n.value % 5), input_bytes, source,"
        " is_final_attempt FROM n, original ORDER BY n.value, key"
    ),
    "run_finding": (
        "SELECT run + n.value * :step, position, id, rule, category, severity, confidence, title, cause, job, stage, stage_attempt, sql,"
        " executor, host, call_site, saves_low_ms, saves_ms, saves_high_ms, saves_core_ms, folded"
        " FROM n, (SELECT * FROM run_finding WHERE run < :step) ORDER BY n.value, run, position"
    ),
    "run_advice": (
        "SELECT run + n.value * :step, position, finding, rule, key, previous, a.value, saves_low_ms, saves_ms, saves_high_ms, saves_core_ms"
        " FROM n, (SELECT * FROM run_advice WHERE run < :step) a ORDER BY n.value, run, position"
    ),
    "run_access": "SELECT run + n.value * :step, n.value % 2, 'ann,bob', NULL, NULL, NULL FROM n, (SELECT * FROM run_access WHERE run < :step)",
    "run_allocation": (
        "SELECT run + n.value * :step, core_ms, mib_ms, parts, platform, instance, region FROM n,"
        " (SELECT * FROM run_allocation WHERE run < :step) ORDER BY n.value, run"
    ),
    "run_usage": (
        "SELECT key, start_ms / 300000 * 300000 + span.value * 300000, 300000, duration_ms, core_ms / 6, core_ms / 9, core_ms * 512,"
        " 1000000 * span.value, 1000, 2000 FROM run, (WITH RECURSIVE s(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM s LIMIT 12)"
        " SELECT value FROM s) span WHERE span.value <= key % 12 AND key >= :step ORDER BY key, span.value"
    ),
    "property": (
        "SELECT p.name, run + n.value * :step, CASE WHEN n.value % 3 THEN p.value ELSE p.value || n.value % 10 END"
        " FROM property p, n WHERE run < :step ORDER BY p.name, n.value, run"
    ),
    "aggregate": (
        "SELECT a.name, run + n.value * :step, a.value * (1 + n.value % 7) FROM aggregate a, n WHERE run < :step"
        " AND a.name IN (SELECT id FROM aggregate_name ORDER BY name NOT IN (SELECT value FROM json_each(:first)), id LIMIT :names)"
        " ORDER BY a.name, n.value, run"
    ),
}
INPUT = "stages.inputBytes.max"
CORES = "executors.totalCores.max"
MEMORY = "spark.executor.memory"


def questions(newest_ms: int, application: str) -> Dict[str, Dict[str, Any]]:
    """What views ask."""
    count = {"as": "n", "op": "count"}
    month = {"field": "start_ms", "op": ">=", "value": newest_ms - 30 * DAY_MS}
    one = {"field": "application", "op": "=", "value": application}
    durations = {"as": "p", "op": "percentiles", "field": "duration_ms", "at": [50, 95]}

    def total(field: str) -> Dict[str, Any]:
        return {"as": field, "op": "sum", "field": field}

    return {
        "usage by day, a year": {"from": "usage", "group": [{"field": "start_ms", "every_ms": DAY_MS}], "measures": [total("core_ms"), total("busy_core_ms"), total("mib_ms")]},
        "usage by user and hour, a month": {"from": "usage", "where": [month, {"field": "user", "op": "prefix", "value": "pyrometer1"}], "group": [{"field": "user"}, {"field": "start_ms", "every_ms": 3_600_000}], "measures": [total("core_ms"), total("busy_core_ms")]},
        "usage by user, a year": {"from": "usage", "group": [{"field": "user"}], "measures": [total("core_ms"), total("shuffle_bytes")]},
        "usage by queue and week, a year": {"from": "usage", "group": [{"field": "queue"}, {"field": "start_ms", "every_ms": 7 * DAY_MS}], "measures": [total("core_ms")]},
        "runs of one application": {"from": "runs", "where": [one], "fields": ["app_id", "attempt", "start_ms", "duration_ms", "input_bytes", f"agg.{INPUT}", f"agg.{CORES}", f"property.{MEMORY}"]},
        "durations by application": {"from": "runs", "group": [{"field": "application"}], "measures": [count, durations, {"as": "mean", "op": "mean", "field": "duration_ms", "weight": "core_ms"}]},
        "newest 100 runs": {"from": "runs", "fields": ["app_id", "name", "user", "start_ms", "duration_ms", "status"], "order": {"by": "start_ms", "descending": True}, "limit": 100},
        "longest 100 runs": {"from": "runs", "fields": ["app_id", "name", "user", "duration_ms"], "order": {"by": "duration_ms", "descending": True}, "limit": 100},
        "histogram of an aggregate": {"from": "runs", "group": [{"field": f"agg.{INPUT}", "edges": [0, 1, 1e3, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12]}], "measures": [count]},
        "two aggregates of all runs": {"from": "runs", "measures": [{"as": "a", "op": "percentiles", "field": f"agg.{INPUT}", "at": [50, 95, 99]}, {"as": "b", "op": "mean", "field": f"agg.{CORES}", "weight": "core_ms"}]},
        "configurations": {"from": "runs", "group": [{"field": f"property.{MEMORY}"}, {"field": f"agg.{CORES}"}], "measures": [count, durations]},
        "findings by rule": {"from": "findings", "group": [{"field": "rule"}], "measures": [count, total("saves_ms"), total("saves_core_ms")]},
        "findings by application and rule, a month": {"from": "findings", "where": [month], "group": [{"field": "application"}, {"field": "rule"}], "measures": [count, total("saves_ms")]},
        "findings of one rule by user": {"from": "findings", "where": [{"field": "rule", "op": "=", "value": "data-skew"}], "group": [{"field": "user"}], "measures": [count, total("saves_ms")]},
        "idle core time by day": {"from": "runs", "group": [{"field": "start_ms", "every_ms": DAY_MS}], "measures": [total("core_ms"), {"as": "unused", "op": "sum", "field": "agg.summary.unused_core_cost"}]},
        "allocations by platform": {"from": "allocations", "group": [{"field": "platform"}, {"field": "instance"}], "measures": [total("core_ms"), total("mib_ms")]},
    }


def views(application: str) -> List[List[str]]:
    """What people ask `pyrometer fleet` for."""
    one = ["--app", application]
    return [
        ["usage"], ["usage", "--by", "user"], ["runs"], ["runs", *one], ["histogram"], ["configurations"], ["allocation"], ["partitions"], ["parallelism"],
        ["idle"], ["waste"], ["findings"], ["problems"], ["adoption"], ["compare", *one, "--by", "date"],
    ]  # fmt: skip


def record(store: Path) -> None:
    logs = sorted((ROOT / "corpus" / "logs").glob("*.zst"))
    for log in logs:  # one by one: two of them have the same id, and only the first is kept
        subprocess.run([BINARY, "diagnose", log, "-f", "json", "--store", f"sqlite:{store}"], capture_output=True, check=False)


def copy(store: Path, runs: int, names: int) -> int:
    """Gives the number of runs."""
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -400000")
        db.execute("CREATE TEMP TABLE original AS SELECT * FROM run WHERE start_ms IS NOT NULL AND end_ms IS NOT NULL")
        (recorded,) = db.execute("SELECT count(*) FROM original").fetchone()
        db.execute("CREATE TEMP TABLE n (value INTEGER PRIMARY KEY)")
        db.executemany("INSERT INTO n VALUES (?)", [(one,) for one in range(1, max(2, round(runs / recorded)))])
        first = json.dumps([INPUT, CORES, *NAMES])
        if not db.execute("SELECT 1 FROM property LIMIT 1").fetchone():
            db.execute("INSERT OR IGNORE INTO property_name (name) VALUES (?)", (MEMORY,))
            db.execute("INSERT INTO property SELECT p.id, key, (1 + key % 4) || 'g' FROM property_name p, run WHERE p.name = ?", (MEMORY,))
        for table, select in COPIES.items():
            begin = time.monotonic()
            wanted = {"step": STEP, "first": first, "names": names}
            db.execute(f"INSERT INTO {table} {select}", {name: wanted[name] for name in wanted if f":{name}" in select})
            print(f"  {table}: {time.monotonic() - begin:.1f} s", file=sys.stderr)
        return int(db.execute("SELECT count(*) FROM run").fetchone()[0])


def measure(store: Path, question: Dict[str, Any], times: int, options: List[str]) -> Dict[str, Any]:
    """The median of several runs of the command, the first of which does not count, and the size of the answer."""
    taken, rows = [], 0
    for attempt in range(times + 1):
        begin = time.monotonic()
        done = subprocess.run([BINARY, "store", "query", f"sqlite:{store}", json.dumps(question), *options], capture_output=True, check=False)
        if done.returncode:
            sys.exit(done.stderr.decode())
        if attempt:
            taken.append(time.monotonic() - begin)
        rows = len(json.loads(done.stdout)["rows"])
    return {"ms": round(sorted(taken)[len(taken) // 2] * 1000), "rows": rows}


def measure_views(store: Path, application: str, times: int) -> None:
    """Wall time and processor time, medians of several runs of the command, the first of which does not count."""
    print("| view | marks or rows | wall ms | CPU ms |\n| --- | --- | --- | --- |")
    for words in views(application):
        taken, rows = [], 0
        for attempt in range(times + 1):
            begin, before = time.monotonic(), os.times()
            done = subprocess.run([BINARY, "fleet", *words, f"sqlite:{store}", "-f", "json"], capture_output=True, check=False)
            after = os.times()
            if done.returncode:
                sys.exit(done.stderr.decode())
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            if attempt:
                taken.append((time.monotonic() - begin, cpu))
            rows = len(json.loads(done.stdout)["rows"])
        wall, cpu = (sorted(one[i] for one in taken)[len(taken) // 2] for i in (0, 1))
        print(f"| {' '.join(words)} | {rows} | {round(wall * 1000)} | {round(cpu * 1000)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--aggregates", type=int, default=40, help="names of aggregates to copy")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--views", action="store_true", help="time views instead of questions")
    parser.add_argument("--store", type=Path, help="keep the store here, and use it if it exists")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or Path(folder) / "fleet.db"
        if not store.exists():
            record(store)
            copy(store, options.runs, options.aggregates)
        with sqlite3.connect(store) as db:
            runs, newest = db.execute("SELECT count(*), max(start_ms) FROM run").fetchone()
            (application,) = db.execute("SELECT application FROM run GROUP BY application ORDER BY count(*) DESC LIMIT 1").fetchone()
        print(f"{runs} runs, {store.stat().st_size / 1e6:.0f} MB")
        if options.views:
            measure_views(store, application, options.times)
            return
        print("| question | rows | ms | ms for a user |\n| --- | --- | --- | --- |")
        for name, question in questions(newest, application).items():
            every, own = (measure(store, question, options.times, more) for more in ([], ["--user", "pyrometer7"]))
            print(f"| {name} | {every['rows']} | {every['ms']} | {own['ms']} |", flush=True)


if __name__ == "__main__":
    main()
