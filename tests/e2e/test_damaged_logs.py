"""The contract of integrity: a damaged log says what the whole one says, or less, and recommends nothing else.

PYROMETER_DAMAGED_LOGS=N tries N recorded logs instead of a few.
"""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any, Callable, Dict, List, Set

import pytest
from conftest import ROOT, lines_of, run_command

# What nothing in a log shows, or not in each: executors may leave at the end, and all jobs and tasks succeed.
UNNOTICED = {"other order", "1 % missing", "no names of reasons", "no results", "no ExecutorRemoved"}
# Kinds of which a damaged log may have none at all.
KINDS = ["ExecutorAdded", "ExecutorRemoved", "JobStart", "StageSubmitted", "StageCompleted"]

Lines = List[bytes]
Damage = Callable[[Lines, random.Random], Lines]
HOURS_9 = 9 * 3_600_000
WINDOW = 40  # lines that may change places: Spark's queues are not in step
METRICS = re.compile(rb'"Task Metrics":\{.*\}$')
RESULT = re.compile(rb'"(Job Result|Failed|Killed)":(?:\{[^{}]*\}|true|false)')
REASON = re.compile(rb'(?<="Task End Reason":\{)("Reason":)"(?!Success")\w+"')
ENDS = (b'{"Event":"SparkListenerJobEnd"', b'{"Event":"SparkListenerTaskEnd"')
TIME = re.compile(rb"(?<=[ :])(1[67]\d{11})(?=[,}])")

QUICK = bool(os.environ.get("PYROMETER_QUICK"))
COUNT = int(os.environ.get("PYROMETER_DAMAGED_LOGS", "8" if QUICK else "32"))
FOUND = sorted(path for folder in ("corpus/logs", "corpus/loop/logs") for path in (ROOT / folder).glob("*.zst"))
SMALL = [path for path in FOUND if path.stat().st_size < 300_000]
LOGS = random.Random(2026).sample(SMALL, min(COUNT, len(SMALL)))


def without_settings(lines: Lines, _: random.Random) -> Lines:
    return [line for line in lines if b"SparkListenerEnvironmentUpdate" not in line[:60]]


def without_start(lines: Lines, _: random.Random) -> Lines:
    last = max(n for n, line in enumerate(lines) if b"SparkListenerEnvironmentUpdate" in line[:60])
    return lines[last + 1 :]


def swapped(lines: Lines, random: random.Random) -> Lines:
    lines = list(lines)
    for first in range(0, len(lines) - WINDOW, WINDOW):
        some = lines[first : first + WINDOW]
        random.shuffle(some)
        lines[first : first + WINDOW] = some
    return lines


def shifted(lines: Lines, _: random.Random) -> Lines:
    """The clock is set in the middle of the run."""
    later = len(lines) // 2
    return lines[:later] + [TIME.sub(lambda at: b"%d" % (int(at.group(1)) + HOURS_9), one) for one in lines[later:]]


def hours_off(kind: str, hours: int) -> Damage:
    """A tenth of the events of a kind come from another clock."""
    begin = b'{"Event":"SparkListener%s"' % kind.encode()
    later = lambda line: TIME.sub(lambda at: b"%d" % (int(at.group(1)) + hours * 3_600_000), line)
    return lambda lines, random: [later(one) if one.startswith(begin) and random.random() < 0.1 else one for one in lines]


def without_metrics(lines: Lines, random: random.Random) -> Lines:
    """A tenth of the tasks that succeeded say nothing of themselves."""
    return [
        METRICS.sub(b'"Task Metrics":null}', line) if b'"Reason":"Success"' in line and random.random() < 0.1 else line
        for line in lines
    ]


def without_results(lines: Lines, random: random.Random) -> Lines:
    """Ends of jobs and of tasks do not say how they ended."""
    return [RESULT.sub(rb'"\1":null', line) if line.startswith(ENDS) and random.random() < 0.5 else line for line in lines]


def without_names_of_reasons(lines: Lines, random: random.Random) -> Lines:
    """Ends of tasks have what their reasons say, without the names of the reasons."""
    return [REASON.sub(rb"\1null", line) if random.random() < 0.5 else line for line in lines]


def dropping(share: float) -> Damage:
    return lambda lines, random: [line for line in lines if random.random() >= share]


def without(kind: str) -> Damage:
    begin = b'{"Event":"SparkListener%s"' % kind.encode()
    return lambda lines, _: [line for line in lines if not line.startswith(begin)]


DAMAGES: Dict[str, Damage] = {
    "no settings": without_settings,
    "no start": without_start,
    "first half": lambda lines, _: lines[: len(lines) // 2],
    "second half": lambda lines, _: lines[len(lines) // 2 :],
    "three quarters": lambda lines, _: lines[: 3 * len(lines) // 4],
    "no end": lambda lines, _: lines[:-3],
    "1 % missing": dropping(0.01),
    "a tenth missing": dropping(0.1),
    "half missing": dropping(0.5),
    "a tenth twice": lambda lines, random: [one for line in lines for one in [line] * (1 + (random.random() < 0.1))],
    "other order": swapped,
    "clock set": shifted,
    "no metrics": without_metrics,
    "no results": without_results,
    "no names of reasons": without_names_of_reasons,
    **{f"{kind} {hours:+} h": hours_off(kind, hours) for kind in ("TaskEnd", "ExecutorAdded") for hours in (9, -9)},
    **{f"no {kind}": without(kind) for kind in KINDS},
}


def report_of(binary: str, log: Path, lines: Lines) -> Any:
    log.write_bytes(b"\n".join(lines) + b"\n")
    run = run_command([binary, "diagnose", "--format", "json", str(log)])
    return json.loads(run.out) if run.exit == 0 else None


def settings_of(report: Any) -> Set[str]:
    return {key for finding in report["findings"] for advice in finding["advice"] for key in advice["config"]}


def new_settings(report: Any, whole: Any) -> Set[str]:
    """What is set now and was not, except for findings that the whole log cures by others of its settings."""
    found = {finding["id"] for finding in whole["findings"] if finding["severity"] != "low"}
    found = found & {id for action in whole["actions"] if action["config"] for id in action["cures"]}
    cured = {key: set(action["cures"]) for action in report["actions"] for key in action["config"]}
    settings = set(report["config_changes"]) - set(whole["config_changes"]) - settings_of(whole)
    return {key for key in settings if not cured[key] <= found}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_damaged_logs_recommend_nothing_else(binary: str, tmp_path: Path, path: Path) -> None:
    lines = list(lines_of(path))
    whole = report_of(binary, tmp_path / "whole", lines)
    rules = {finding["rule"] for finding in whole["findings"]}
    wrong = []
    for name, damage in DAMAGES.items():
        damaged = damage(lines, random.Random(path.stem + name))
        if damaged == lines:
            continue  # there is nothing of the kind
        report = report_of(binary, tmp_path / "log", damaged)
        if report is None:
            continue  # nothing of an application is left
        other = {finding["rule"] for finding in report["findings"]} - rules
        settings = new_settings(report, whole)
        if other or settings:
            wrong.append(f"{name}: {sorted(other)} {sorted(settings)}")
        if report["integrity"]["confidence"] > whole["integrity"]["confidence"] + 0.02:
            wrong.append(f"{name}: more confidence than in the whole log")
        if name not in UNNOTICED and report["integrity"]["confidence"] == 1:
            wrong.append(f"{name}: the damage was not noticed")
    assert not wrong, "\n".join(wrong)
