"""A store of repeated runs: real logs, recorded once with the command, and their rows copied under other ids and times.

What is planted: `data_skew` takes half again as long with version 2 and four executor cores, and has one run that took six times as
long; every 13th run failed; runs have users, queues, teams and, from their middle on, adaptive execution.
`disk_spill` follows a recommended setting then, `straggler` a recommended change of the program.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("PYROMETER_BINARY", ROOT / "build" / "pyrometer"))
LOGS = [
    "data_skew", "healthy_etl", "driver_oom", "executor_lost", "single_writer", "slow_store_write", "idle_executors", "job_failed_udf",
    "job_failed_cast", "gc_pressure", "disk_spill", "shuffle_heavy", "many_slices", "straggler", "healthy_sql", "oom_groups",
    "result_limit", "too_few_partitions", "resource_wait",
]  # fmt: skip
COPIES = 32
FIRST_MS = 1_767_225_600_000  # 2026-01-01
HOUR_MS = 3_600_000
STEP = 100_000  # between keys of a run and its next copy
USERS = ["etl", "ann", "bob"]
QUEUES = ["prod", "dev"]
TEAMS = ["red", "blue"]
CHANGED, OUTLIER = COPIES // 2, 5  # of data_skew: the first run with version 2, and a run that took very long
FOLLOWED = {"disk_spill": 0.7, "straggler": 0.8}  # what they take once advice is followed: a setting, a change of the program
FAILED_EVERY = 13
# Aggregates that views ask for; the others are not copied.
NAMES = [
    "executors.totalCores.sum", "executors.elements_count", "executors.totalTasks.count_zeroes", "summary.est_seq_time",
    "summary.parallel_work", "summary.core_cost", "summary.parallel_part", "summary.estimated_speedup",
    "summary.estimated_core_efficiency", "summary.unused_core_cost", "run.output_partitions", "run.idle_core_ms",
    "run.core_failed_tasks_ms", "run.wasted_core_ms", "run.saves_core_ms", "stages.outputBytes.sum", "stages.inputBytes.max",
    "stages.shuffleWriteBytes.sum", "stages.memoryBytesSpilled.sum", "stages.jvmGcTime.sum", "stages.numFailedTasks.sum",
]  # fmt: skip
TIMED = {"duration_ms", "core_ms", "slot_ms", "busy_core_ms", "mib_ms", "saves_low_ms", "saves_ms", "saves_high_ms", "saves_core_ms"}

Row = Dict[str, Any]


def record(store: Path) -> None:
    for name in LOGS:
        log = ROOT / "corpus" / "logs" / f"{name}.zst"
        command = [BINARY, "diagnose", log, "--brief", "--config", "none", "--store", f"sqlite:{store}"]
        subprocess.run(command, capture_output=True, check=True)


def rows_of(db: sqlite3.Connection, table: str) -> List[Row]:
    db.row_factory = sqlite3.Row
    return [dict(row) for row in db.execute(f"SELECT * FROM {table}")]


def insert(db: sqlite3.Connection, table: str, rows: List[Row]) -> None:
    if rows:
        names = list(rows[0])
        db.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", [tuple(row[name] for name in names) for row in rows])


def factor_of(application: str, copy: int) -> float:
    """How long a copy takes, times its original: a little noise, and what is planted."""
    noise = 1 + ((copy * 7919 + len(application)) % 11 - 5) / 100
    if application == "data_skew":
        return noise * (6 if copy == OUTLIER else 1.5 if copy >= CHANGED else 1)
    if application in FOLLOWED:
        return noise * (FOLLOWED[application] if copy >= CHANGED else 1)
    return noise


def scaled(row: Row, factor: float) -> Row:
    return {name: round(value * factor) if name in TIMED and value is not None else value for name, value in row.items()}


def copy_run(run: Row, place: int, copy: int) -> Tuple[Row, float, int]:
    factor, number = factor_of(run["application"], copy), place * COPIES + copy
    made = scaled(run, factor)
    made["key"] = run["key"] + (copy + 1) * STEP
    made["app_id"] = f"{run['app_id']}-{copy:03}"
    made["start_ms"] = FIRST_MS + copy * 24 * HOUR_MS + place * HOUR_MS
    made["end_ms"] = made["start_ms"] + made["duration_ms"]
    made["user"], made["queue"] = USERS[place % len(USERS)], QUEUES[place % len(QUEUES)]
    made["version"] = "2" if copy >= CHANGED else "1"
    made["type"] = "batch" if place % 2 else "report"
    if number % FAILED_EVERY == 0:
        made["status"] = made["outcome"] = "failed"
    return made, factor, made["start_ms"] - run["start_ms"]


def property_ids(db: sqlite3.Connection, names: List[str]) -> Dict[str, int]:
    db.executemany("INSERT OR IGNORE INTO property_name (name) VALUES (?)", [(name,) for name in names])
    return {name: db.execute("SELECT id FROM property_name WHERE name = ?", (name,)).fetchone()[0] for name in names}


def settings_of(run: Row, copy: int) -> Dict[str, str]:
    settings = {"spark.dynamicAllocation.enabled": "true" if run["key"] % 2 else "false"}
    settings["spark.sql.adaptive.enabled"] = "true" if copy >= CHANGED else "false"
    if run["application"] == "data_skew":
        settings["spark.executor.cores"] = "4" if copy >= CHANGED else "2"
    if run["application"] == "disk_spill":
        settings["spark.memory.fraction"] = "0.6" if copy >= CHANGED else "0.1"
    return settings


def copy_all(db: sqlite3.Connection) -> None:
    runs = [run for run in rows_of(db, "run") if run["start_ms"] is not None and run["duration_ms"] is not None]
    by_run: Dict[str, Dict[int, List[Row]]] = {}
    for table in ("run_finding", "run_usage", "run_allocation", "run_access", "run_advice"):
        by_run[table] = {}
        for row in rows_of(db, table):
            by_run[table].setdefault(row["run"], []).append(row)
    ids = property_ids(db, ["spark.dynamicAllocation.enabled", "spark.sql.adaptive.enabled", "spark.executor.cores", "spark.memory.fraction"])
    db.execute("INSERT OR IGNORE INTO tag_name (name) VALUES ('team')")
    (team,) = db.execute("SELECT id FROM tag_name WHERE name = 'team'").fetchone()
    properties: Dict[int, Dict[int, str]] = {}
    for name, run, value in db.execute("SELECT name, run, value FROM property"):
        properties.setdefault(run, {})[name] = value
    marks = ", ".join("?" * len(NAMES))
    (zeroes,) = db.execute("SELECT id FROM aggregate_name WHERE name = 'executors.totalTasks.count_zeroes'").fetchone()
    aggregates: Dict[int, List[Row]] = {}
    for row in map(dict, db.execute(f"SELECT a.* FROM aggregate a JOIN aggregate_name n ON n.id = a.name WHERE n.name IN ({marks})", NAMES)):
        aggregates.setdefault(row["run"], []).append(row)
    new: Dict[str, List[Row]] = {name: [] for name in ("run", "run_finding", "run_usage", "run_allocation", "run_access", "run_advice", "aggregate", "property", "run_tag")}
    for place, run in enumerate(sorted(runs, key=lambda one: str(one["application"]))):
        for copy in range(COPIES):
            made, factor, later = copy_run(run, place, copy)
            new["run"].append(made)
            for table, rows in by_run.items():
                followed = table == "run_advice" and run["application"] in FOLLOWED and copy >= CHANGED
                for row in [] if followed else rows.get(run["key"], []):
                    one = {**scaled(row, factor), "run": made["key"]}
                    if table == "run_usage":
                        one["start_ms"] = (row["start_ms"] + later) // row["span_ms"] * row["span_ms"]
                    if table == "run_allocation":
                        one.update({"platform": "kubernetes", "region": "us-east-1", "instance": ["m5.xlarge", None][place % 2]})
                    new[table].append(one)
            for row in aggregates.get(run["key"], []):
                idle = run["application"] == "idle_executors" and row["name"] == zeroes and copy % 2
                new["aggregate"].append({**row, "run": made["key"], "value": 1 if idle else row["value"]})
            settings = {**properties.get(run["key"], {}), **{ids[key]: value for key, value in settings_of(run, copy).items()}}
            new["property"] += [{"name": key, "run": made["key"], "value": value} for key, value in settings.items()]
            new["run_tag"].append({"name": team, "run": made["key"], "value": TEAMS[place % len(TEAMS)]})
    for table in ("run", "run_finding", "run_usage", "run_allocation", "run_access", "run_advice", "aggregate", "property", "run_tag"):
        insert(db, table, new[table])
    keys = ", ".join(str(run["key"]) for run in runs)  # the originals go: all runs are of one kind
    for table, name in (("aggregate", "run"), ("property", "run"), ("run_tag", "run"), ("run_finding", "run"), ("run_usage", "run"), ("run_allocation", "run"),
                        ("run_access", "run"), ("run_advice", "run"), ("run_report", "run"), ("run_raw", "run"), ("run", "key")):  # fmt: skip
        db.execute(f"DELETE FROM {table} WHERE {name} IN ({keys})")
    for number in range(6):
        step, message = ("read", "line 12: not a record") if number < 4 else ("fetch", f"connection {number} refused")
        db.execute("INSERT INTO error (time_ms, app_id, step, type, message) VALUES (?, ?, ?, 'input', ?)", (FIRST_MS + number, f"app-{number}", step, message))


def build(store: Path) -> None:
    """Makes the store, the same one each time."""
    record(store)
    with sqlite3.connect(store) as db:
        copy_all(db)
