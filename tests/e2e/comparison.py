"""Compares a report with what the oracle computed for the same log."""

from __future__ import annotations

from typing import Any, Dict, List

APPLICATION = ["id", "name", "attempt", "user", "spark_version", "master", "start_ms", "end_ms", "duration_ms"]
INTEGRITY = ["lines", "bad_lines", "repeated_events", "tasks_started", "tasks_ended"]
EXECUTOR = ["host", "cores", "added_ms", "removed_ms", "remove_reason"]


def differences(expected: Dict[str, Any], got: Dict[str, Any]) -> List[str]:
    """One line for each number or name in which the report differs from the oracle."""
    found: List[str] = []

    def same(path: str, want: Any, have: Any) -> None:
        if want != have or isinstance(want, bool) != isinstance(have, bool):
            found.append(f"{path}: the oracle says {want!r}, the report {have!r}")

    def section(name: str, keys: List[str]) -> None:
        for key in keys:
            same(f"{name}.{key}", expected[name][key], got[name].get(key, "(absent)"))

    section("application", APPLICATION)
    section("integrity", INTEGRITY)
    if "bytes" in expected["integrity"]:
        section("integrity", ["bytes"])
    section("integrity", ["events", "unknown_events"])
    section("totals", list(expected["totals"]))
    for account in ("wall", "core"):
        want, have = expected["accounting"][account], got["accounting"][account]
        same(f"accounting.{account}.total_ms", want["total_ms"], have["total_ms"])
        same(
            f"accounting.{account}.parts",
            [part["name"] for part in want["parts"]],
            [part["name"] for part in have["parts"]],
        )
        parts = {part["name"]: part["ms"] for part in have["parts"]}
        for part in want["parts"]:
            same(f"accounting.{account}.{part['name']}", part["ms"], parts.get(part["name"]))
    for key, want in expected["accounting"]["phases"].items():
        same(f"accounting.phases.{key}", want, got["accounting"]["phases"].get(key))
    section("bounds", list(expected["bounds"]))
    found += stage_differences(expected["stages"], got["stages"])
    found += executor_differences(expected["executors"], got["executors"])
    return found


def stage_differences(expected: List[Dict[str, Any]], got: List[Dict[str, Any]]) -> List[str]:
    found: List[str] = []
    want_rows = {(row["id"], row["attempt"]): row for row in expected}
    have_rows = {(row["id"], row["attempt"]): row for row in got}
    if sorted(want_rows) != sorted(have_rows) or len(have_rows) != len(got):
        only_want = sorted(set(want_rows) - set(have_rows))
        only_have = sorted(set(have_rows) - set(want_rows))
        found.append(f"stages: the oracle alone has {only_want}, the report alone {only_have}, rows {len(got)}")
    required = {"name", "job", "sql", "status", "submitted_ms", "completed_ms", "tasks", "duration_ms"}
    for key in sorted(set(want_rows) & set(have_rows)):
        want, have = want_rows[key], have_rows[key]
        for name, value in want.items():
            # Beyond the contract's columns a report may show more or fewer sums; those it shows have to be right.
            if (name in have or name in required) and have.get(name, "(absent)") != value:
                found.append(
                    f"stage {key[0]}.{key[1]} {name}: the oracle says {value!r}, the report {have.get(name)!r}"
                )
    return found


def executor_differences(expected: List[Dict[str, Any]], got: List[Dict[str, Any]]) -> List[str]:
    found: List[str] = []
    rows: Dict[str, List[Dict[str, Any]]] = {}
    for row in got:
        rows.setdefault(row["id"], []).append(row)
    wanted = {row["id"] for row in expected}
    for name in rows:
        if name not in wanted and any(row["added_ms"] is not None for row in rows[name]):
            found.append(f"executor {name}: the log never added it")
    for want in expected:
        have = rows.get(want["id"])
        if not have:
            found.append(f"executor {want['id']}: absent from the report")
            continue
        for column in ("busy_ms", "gc_ms"):  # an id that came back may have a row for each of its lives
            total = sum(row[column] for row in have)
            if total != want[column]:
                found.append(f"executor {want['id']} {column}: the oracle says {want[column]}, the report {total}")
        if len(have) == 1:
            for column in EXECUTOR:
                if have[0].get(column) != want[column]:
                    found.append(
                        f"executor {want['id']} {column}: the oracle says {want[column]!r}, "
                        f"the report {have[0].get(column)!r}"
                    )
    return found
