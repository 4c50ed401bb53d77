"""The table of Spark's settings against what Spark itself says: names, defaults and first versions."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

import conftest
import pytest
from servers import Unavailable, spark
from servers.spark import spark_runs

TABLE = conftest.ROOT / "src" / "analyze" / "settings" / "spark_settings.def"
ROW = re.compile(
    r'PYRO_SPARK_SETTING\("(?P<key>[^"]+)", (?P<kind>\w+), (?P<unit>\d+), \w+, (?P<default>NULL|"[^"]*"), (?P<since>\d+),'
)
# Read by Hadoop, by the network library, or by code without an entry.
OUTSIDE = re.compile(r"spark\.(default\.parallelism$|hadoop\.|shuffle\.io\.|python\.worker\.memory$|sql\.streaming\.stateStore\.rocksdb\.)")
# Spark lists no default for these; its code has one, or falls back to another setting.
IN_CODE = {
    "spark.scheduler.revive.interval": "1s",
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum": "@spark.sql.shuffle.partitions",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "@spark.sql.autoBroadcastJoinThreshold",
}
SUFFIXES = {"": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30}
TIMES = {"": 1, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
# As good as none: advice never names such a value.
UNLIMITED = {2**31 - 1, (2**31 - 1) * 1000, 2**63 - 1}


class Row(NamedTuple):
    key: str
    kind: str
    unit: int
    default: Optional[str]
    since: int


def rows() -> List[Row]:
    found = [
        Row(m["key"], m["kind"], int(m["unit"]), None if m["default"] == "NULL" else m["default"][1:-1], int(m["since"]))
        for m in ROW.finditer(TABLE.read_text())
    ]
    assert len(found) == TABLE.read_text().count('PYRO_SPARK_SETTING("')
    return found


def default_in(row: Row, version: int) -> Optional[str]:
    """The table's default for that version; "?": not known; None: Spark has none that does not depend on the cluster."""
    value: Optional[str] = None
    for part in (row.default or "").split(";"):
        since, equals, text = part.partition("=")
        if not (equals and re.fullmatch(r"\d{3}", since)):
            value = part or None
        elif int(since) <= version:
            value = text
    return None if value == "$cores" else value


def magnitude(row: Row, text: str) -> Any:
    match = re.fullmatch(r"(-?\d+)([a-z]*)", text.strip().lower())
    if row.kind in ("SIZE", "TIME") and match:
        suffixes = SUFFIXES if row.kind == "SIZE" else TIMES
        return int(match[1]) * (row.unit if not match[2] else suffixes[match[2]])
    if row.kind in ("COUNT", "SHARE"):
        try:
            return float(text)
        except ValueError:
            return text
    return text.lower() if row.kind == "FLAG" else text


def complaint(row: Row, version: int, known: Dict[str, List[str]]) -> Optional[str]:
    entry = known.get(row.key)
    if entry is None:
        return None if OUTSIDE.match(row.key) or row.since > version else f"{row.key} is not in Spark {version}"
    since = re.match(r"(\d+)\.(\d+)", entry[1] or "")
    if since and int(since[1]) * 100 + int(since[2]) != row.since:
        return f"{row.key}: since {row.since}, but Spark says {entry[1]}"
    own, theirs = default_in(row, version), entry[0]
    if own == "?" or (own is not None and own == IN_CODE.get(row.key)):
        return None
    refers = re.fullmatch(r"<value of (.+)>", theirs)
    if refers and own and not own.startswith("@"):  # the default of the one that it refers to
        fine = magnitude(row, own) == magnitude(row, known[refers[1]][0])
    elif theirs == "<undefined>" or refers:
        fine = own is None or (refers is not None and own == f"@{refers[1]}")
    elif own is None:
        fine = magnitude(row, theirs) in UNLIMITED or row.key in WITHOUT
    else:
        fine = not own.startswith("@") and magnitude(row, own) == magnitude(row, theirs)
    return None if fine else f"{row.key}: default {own}, but Spark {version} says {theirs}"


# Spark's default is that of one cluster manager.
WITHOUT = {"spark.executor.cores"}


@pytest.mark.slow
@pytest.mark.parametrize("version", spark.VERSIONS)
def test_names_and_defaults_are_those_of_spark(version: str, tmp_path: Path) -> None:
    try:
        venv = spark.venv(version)
    except Unavailable as reason:
        pytest.skip(str(reason))
    script = Path(__file__).with_name("spark_configuration.py")
    answer = tmp_path / "known.json"
    subprocess.run(
        [str(venv / "bin" / "python"), str(script), str(answer)],
        env=spark_runs.spark_env(venv),
        check=True,
        timeout=120,
        stdout=subprocess.DEVNULL,
    )
    known = json.loads(answer.read_text())
    assert len(known) > 900
    major, minor = version.split(".")[:2]
    wrong = [complaint(row, int(major) * 100 + int(minor), known) for row in rows()]
    assert [text for text in wrong if text] == []


def test_no_setting_is_named_twice_or_refers_to_one_that_refers() -> None:
    table = {row.key: row for row in rows()}
    assert len(table) == len(rows()) >= 150
    for row in table.values():
        if (row.default or "").startswith("@"):
            assert not (table[(row.default or "")[1:]].default or "").startswith("@"), row.key
