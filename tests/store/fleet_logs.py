"""A small fleet: event logs of many applications, made of three recorded ones by other names, users, times and properties."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Dict, List

import zstandard

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ("idle_narrow", "skew_rdd", "slow_store_write")
RUNS = 48
DAY_MS = 86_400_000
FIRST_MS = 1_767_225_600_000  # 2026-01-01
NAMES = ["etl daily", "report-monthly", "Überprüfung", "a_b%c", "etl hourly"]
USERS = ["etl", "ann", "bob", "ops"]
TIMES_MS = range(1_600_000_000_000, 2_000_000_000_000)  # which whole numbers of a log are times


def events_of(name: str) -> List[Dict[str, Any]]:
    with open(ROOT / "corpus" / "logs" / f"{name}.zst", "rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def retimed(value: Any, start: int, to: int, factor: float) -> Any:
    """Every time in it moved, and stretched from the start."""
    if isinstance(value, dict):
        return {key: retimed(one, start, to, factor) for key, one in value.items()}
    if isinstance(value, list):
        return [retimed(one, start, to, factor) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and value in TIMES_MS:
        return to + round((value - start) * factor)
    return value


def properties_of(index: int) -> Dict[str, str]:
    """Settings of one run: among them who may see it."""
    made: Dict[str, str] = {"spark.executor.memory": ["1g", "2g", "4g"][index % 3]}
    if index % 4:
        made["spark.sql.shuffle.partitions"] = str(50 * (index % 4))
    access = index % 8
    if access in (1, 2, 3, 4, 5):
        made["spark.acls.enable"] = "true"
    if access in (2, 6):
        made["spark.ui.view.acls"] = "ann, zoe"
    if access == 3:
        made["spark.ui.view.acls.groups"] = "staff,night"
    if access == 4:
        made["spark.admin.acls"] = "root"
        made["spark.admin.acls.groups"] = "admins"
    if access == 5:
        made["spark.ui.view.acls"] = "*"
    return made


def write_log(events: List[Dict[str, Any]], index: int, path: Path, chance: random.Random) -> None:
    application = next(one for one in events if one["Event"] == "SparkListenerApplicationStart")
    start, to = application["Timestamp"], FIRST_MS + index * 11 * 3_600_000 + chance.randrange(3_600_000)
    attempts, kept = index % 12 == 0 and index > 0, []
    for event in retimed(events, start, to, 0.5 + chance.random()):
        kind = event["Event"]
        if kind == "SparkListenerApplicationStart":
            event.update({"App ID": f"application_{1767225600000 + index}_{index:04}", "App Name": NAMES[index % len(NAMES)]})
            event["User"] = USERS[index * 7 % len(USERS)]
            if attempts:  # another attempt of the application before
                event.update({"App ID": f"application_{1767225600000 + index - 1}_{index - 1:04}", "App Attempt ID": "2"})
        elif kind == "SparkListenerEnvironmentUpdate":
            event["Spark Properties"].update(properties_of(index))
        elif kind == "SparkListenerApplicationEnd" and index % 9 == 4:
            continue  # still running, or died
        kept.append(json.dumps(event, separators=(",", ":"), ensure_ascii=False))
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")


def write_fleet(folder: Path) -> List[Path]:
    """The logs, the same ones each time, and one that is none."""
    chance = random.Random(18)
    recorded = [events_of(name) for name in RECORDED]
    paths = [folder / f"run-{index:02}" for index in range(RUNS)]
    for index, path in enumerate(paths):
        write_log(recorded[index % len(recorded)], index, path, chance)
    broken = folder / "broken"
    broken.write_text("this is no event log\n", encoding="utf-8")
    return [*paths, broken]
