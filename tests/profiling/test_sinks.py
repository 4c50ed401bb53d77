"""What Spark's metrics sinks wrote and its web UI showed, against a reading of the same files here."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import pytest

from sinks_kit import report, sql, sql_run, unpack

POINTS = (
    "SELECT executor, role, series.name AS name, unit, type, labels, (points.time_ns + 1000000 * a.start_ms) / 1000000000 AS second, value "
    "FROM points JOIN series ON series.id = points.series JOIN threads ON threads.id = series.thread, applications a "
    "ORDER BY 1, 3, 6, 7"
)
Key = Tuple[Optional[str], str, Optional[str]]


def number(text: Any) -> Optional[float]:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def split(name: str) -> Tuple[Optional[str], str]:
    """Executor and metric of a name."""
    match = re.fullmatch(r"app-\d+-\d+\.(driver|\d+)\.(.*)", name)
    return (match[1], match[2]) if match else (None, name)


def found(folder: Path) -> Dict[Key, List[Tuple[Optional[int], float]]]:
    """The points of each series."""
    series: Dict[Key, List[Tuple[Optional[int], float]]] = {}
    for row in sql(folder, POINTS):
        stat = row["labels"][len("stat=") :] if row["labels"] else None
        assert row["type"] == ("counter" if stat in ("count", "Count") or row["name"].endswith("_total") else row["type"])
        series.setdefault((row["executor"], row["name"], stat), []).append((row["second"], row["value"]))
    return series


def test_csv_files_become_series(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "csv/")
    expected: Dict[Key, List[Tuple[Optional[int], float]]] = {}
    for path in (folder / "csv").iterdir():
        header, *lines = [line.split(",") for line in path.read_text().splitlines()]
        if header[0] != "t":  # two processes of the cluster wrote one file at once
            continue
        executor, metric = split(path.name[: -len(".csv")])
        for line in lines:
            for column, cell in list(zip(header, line))[1:]:
                if number(cell) is not None:
                    key = (executor, metric, column if len(header) > 2 else None)
                    expected.setdefault(key, []).append((int(line[0]), float(cell)))
    made = {key: sorted(points) for key, points in found(folder).items()}
    assert made == {key: sorted(points) for key, points in expected.items()}
    assert len(expected) > 400
    (artefact,) = report(folder)["profiling"]["artefacts"]  # one row for the folder
    assert (artefact["kind"], artefact["problems"]) == ("csv-sink", None)
    assert artefact["records"] == sum(map(len, expected.values()))
    units = sql(folder, "SELECT DISTINCT unit, labels FROM series WHERE name LIKE '%messageProcessingTime%' AND unit IS NOT NULL")
    assert {"unit": "milliseconds", "labels": "stat=p95"} in units and {"unit": "calls/second", "labels": "stat=m1_rate"} in units
    types = sql(folder, "SELECT DISTINCT type FROM series WHERE name = 'executor.recordsRead'")
    assert types == [{"type": "counter"}]


def flat(folder: Path) -> Dict[Key, List[Tuple[Optional[int], float]]]:
    """The numbers of /metrics/json."""
    expected: Dict[Key, List[Tuple[Optional[int], float]]] = {}
    for group, metrics in json.loads((folder / "metrics.json").read_text()).items():
        for name, members in metrics.items() if isinstance(metrics, dict) else ():
            for stat, value in members.items():
                if number(value) is not None:
                    executor, metric = split(name)
                    expected[executor, metric, None if group in ("gauges", "counters") else stat] = [(None, float(value))]
    return expected


def test_metrics_json(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "metrics.json")
    assert found(folder) == flat(folder) and len(flat(folder)) > 200


def test_prometheus_text_of_the_driver_says_the_same_as_json(tmp_path: Path) -> None:
    json_folder = unpack(tmp_path / "json", "metrics.json")
    folder = unpack(tmp_path / "text", "driver.prom")
    made = found(folder)
    lines = (folder / "driver.prom").read_text().splitlines()
    assert len(made) == len([line for line in lines if not re.search(r'_Number\{type="gauges"\}', line)])
    assert {executor for executor, _, _ in made} == {"driver"}
    plain = lambda name: re.sub(r"[^a-zA-Z0-9]", "_", name)  # noqa: E731
    single = {(executor, plain(name)) for executor, name, stat in flat(json_folder) if stat is None}
    assert {(executor, name) for executor, name, stat in made if stat is None} == single
    stats = {(executor, plain(name)) for executor, name, stat in flat(json_folder) if stat}
    assert {(executor, name) for executor, name, stat in made if stat} == stats


def test_prometheus_text_of_executors(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "executors.prom")
    expected: Dict[Key, List[Tuple[Optional[int], float]]] = {}
    for line in (folder / "executors.prom").read_text().splitlines():
        name, labels, value = re.fullmatch(r"(\w+)\{(.*)\} (\S+)", line).groups()  # type: ignore[union-attr]
        executor = re.search(r'executor_id="(\w+)"', labels)
        expected[executor[1] if executor else None, re.sub("^metrics_", "", name), None] = [(None, float(value))]
    assert found(folder) == expected
    units = {row["name"]: (row["unit"], row["type"]) for row in sql(folder, "SELECT name, unit, type FROM series")}
    assert units["executor_JVMHeapMemory_bytes"] == ("bytes", "gauge")
    assert units["executor_totalGCTime_seconds_total"] == ("seconds", "counter")


def test_prometheus_text_of_others(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "nothing")
    text = '# HELP a_b what\n# TYPE a_b gauge\na_b{x="a } \\" b",executor_id="7"} 1.5 1795472171000\nnan{x="1"} NaN\nplain 3\n'
    (folder / "saved.txt").write_text(text, encoding="ascii")
    assert found(folder) == {("7", "a_b", None): [(1795472171, 1.5)], (None, "plain", None): [(None, 3.0)]}
    (folder / "saved.txt").write_text(text + "broken{ 1\nlater 1 x\n", encoding="ascii")
    assert found(folder) == {}  # not what it seems
    (folder / "saved.txt").write_text(text + "# " + "x" * 70000 + "\nbroken{ 1\nlater 1 x\n", encoding="ascii")
    assert sql(folder, "SELECT problems FROM artefacts") == [{"problems": "2 damaged values"}]


def test_namespaces_and_texts_in_csv_files(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "nothing")
    (folder / "etl.3.jvm.heap.used.csv").write_text("t,value\n1795472171,12\n1795472173,[a]\n\n1795472175,1e3\n", encoding="ascii")
    (folder / "etl.3.x.csv").write_text("t,count\n1795472171,12\n1795472173\nx,1\n1795472175,-\n", encoding="ascii")
    assert found(folder) == {("3", "jvm.heap.used", None): [(1795472171, 12), (1795472175, 1000)], ("3", "x", None): [(1795472171, 12)]}
    assert sql(folder, "SELECT problems FROM artefacts") == [{"problems": "3 damaged values"}]


@pytest.mark.parametrize("name", ["metrics.json", "driver.prom", "executors.prom"])
def test_damaged_files_never_crash(name: str, tmp_path: Path) -> None:
    folder = unpack(tmp_path, name)
    whole = (folder / name).read_bytes()[:6000]
    generator = random.Random(9)
    for _ in range(15):
        damaged = bytearray(whole[: generator.randrange(60, len(whole))])
        for _ in range(generator.randrange(0, 12)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(1, 256)
        (folder / name).write_bytes(damaged)
        assert sql_run(folder).exit in (0, 2)  # 2: it is no longer of this kind, and may be an event log
