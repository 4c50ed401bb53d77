"""Views of a fleet: their numbers against an oracle over the store's SQL views, their limits, formats and errors."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List

import pytest
import zstandard

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import fleet_statistics  # noqa: E402
import repeated_runs  # noqa: E402
import schemas  # noqa: E402
import suggested_runs  # noqa: E402
import view_oracle as oracle  # noqa: E402
from cli_command import Command  # noqa: E402
from fleet_adoption import Run, realised  # noqa: E402
from fleet_views import VIEWS  # noqa: E402

APP = "data_skew"
PRICES = """schema: pyrometer.prices/1
currency: USD
source: a contract
dated: 2026-01-01
prices:
  - {service: kubernetes, unit: core-hour, region: us-east-1, price: 0.06}
  - {service: kubernetes, unit: gib-hour, region: us-east-1, price: 0.01}
  - {service: ec2, unit: hour, instance: m5.xlarge, region: us-east-1, price: 0.2}
"""


class Store:
    def __init__(self, path: Path, command: Command) -> None:
        self.path, self.command = path, command
        self.fleet = oracle.Fleet(path)

    def view(self, name: str, *options: str) -> Dict[str, Any]:
        done = self.command("fleet", name, f"sqlite:{self.path}", "--format", "json", *options)
        assert done.returncode == 0, done.stderr
        document: Dict[str, Any] = json.loads(done.stdout)
        schemas.check(document, f"pyrometer.fleet_{name}-1.json")
        return document

    def rows(self, name: str, *options: str) -> List[Dict[str, Any]]:
        return rows_of(self.view(name, *options))


def rows_of(document: Dict[str, Any], table: str = "rows") -> List[Dict[str, Any]]:
    found = document if table == "rows" else next(one for one in document["tables"] if one["name"] == table)
    return [dict(zip(found["columns"], row)) for row in found["rows"]]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("fleet")
    repeated_runs.build(folder / "fleet.db")
    return Store(folder / "fleet.db", Command(folder))


def everything(row: Dict[str, Any]) -> bool:
    return True


def compare_rows(rows: List[Dict[str, Any]], key: str, expected: Dict[Any, Dict[str, Any]]) -> None:
    """All rows of the view, with at least the columns of the oracle."""
    assert {row[key] for row in rows} == set(expected) and len(rows) == len(expected)
    for row in rows:
        for name, value in expected[row[key]].items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-9), (row[key], name)


# ---- Numbers ----


@pytest.mark.parametrize(
    ("options", "keep"),
    [
        ([], everything),
        (["--user", "ann"], lambda row: row["user"] == "ann"),
        (["--tag", "team=red", "--max", "duration_ms=100000"], lambda row: row["tag.team"] == "red" and row["duration_ms"] <= 100_000),
        (
            ["--since", "2026-01-10", "--until", "2026-01-20T12:00:00"],
            lambda row: 1_768_003_200_000 <= row["start_ms"] < 1_768_910_400_000,
        ),
    ],
)
def test_sums_are_those_of_the_rows(store: Store, options: List[str], keep: oracle.Keep) -> None:
    compare_rows(store.rows("runs", *options), "application", oracle.runs(store.fleet, keep))
    compare_rows(store.rows("findings", *options), "rule", oracle.findings(store.fleet, "rule", keep))
    compare_rows(store.rows("waste", "--by", "queue", *options), "queue", oracle.waste(store.fleet, "queue", keep))


def test_findings_and_waste_are_ranked(store: Store) -> None:
    rows = store.rows("findings", "--by", "application")
    compare_rows(rows, "application", oracle.findings(store.fleet, "application", everything))
    assert [row["saves_ms"] for row in rows] == sorted((row["saves_ms"] for row in rows), reverse=True)
    wasted = [row["wasted_core_ms"] for row in store.rows("waste")]
    assert wasted == sorted(wasted, reverse=True) and wasted[0] > 0


def test_usage_is_the_sum_of_spans(store: Store) -> None:
    rows = store.rows("usage")
    spans = {row["span_ms"] for row in rows}
    assert len(spans) == 1 and len(rows) <= 301
    compare_rows(rows, "start_ms", oracle.usage(store.fleet, spans.pop(), everything))


def test_usage_by_series_adds_up(store: Store) -> None:
    document = store.view("usage", "--by", "application")
    rows, names = rows_of(document), {row["application"] for row in rows_of(document)}
    assert len(names) == 9 and "(other)" in names
    sums: Dict[int, float] = {}
    for row in rows:
        sums[row["start_ms"]] = sums.get(row["start_ms"], 0) + row["core_ms"]
    spans = {row["span_ms"] for row in rows}
    expected = oracle.usage(store.fleet, spans.pop(), everything)
    assert {start: value for start, value in sums.items() if value} == {start: row["core_ms"] for start, row in expected.items() if row["core_ms"]}
    groups = rows_of(document, "groups")
    assert len(groups) == len({run["application"] for run in store.fleet.runs}) > 9
    for row in groups:
        own = [run for run in store.fleet.runs if run["application"] == row["application"]]
        usage = [one for one in store.fleet.lists["usage"] if one["application"] == row["application"]]
        assert row["runs"] == len(own) and row["core_ms"] == oracle.total(usage, "core_ms")
        assert row["cores"] == pytest.approx(row["core_ms"] / oracle.total(own, "duration_ms"))


def test_parallelism_and_idle_executors(store: Store) -> None:
    compare_rows(store.rows("parallelism"), "type", oracle.parallelism(store.fleet, "type"))
    setting = "property.spark.sql.adaptive.enabled"
    compare_rows(store.rows("parallelism", "--by", "spark.sql.adaptive.enabled"), setting, oracle.parallelism(store.fleet, setting))
    rows = store.rows("idle")
    compare_rows(rows, "application", oracle.idle(store.fleet, "application"))
    assert rows[0]["application"] == "idle_executors" and rows[0]["runs_with_idle"] == repeated_runs.COPIES // 2


def test_configurations(store: Store) -> None:
    columns = {
        "dynamic_allocation": "spark.dynamicAllocation.enabled", "executors": "spark.executor.instances", "cores": "spark.executor.cores",
        "memory": "spark.executor.memory", "adaptive": "spark.sql.adaptive.enabled", "shuffle_partitions": "spark.sql.shuffle.partitions",
    }  # fmt: skip
    rows = store.rows("configurations")
    for row in rows:
        row["key"] = tuple(row[name] for name in columns)
    compare_rows(rows, "key", oracle.configurations(store.fleet, list(columns.values())))


def test_a_histogram_counts_every_run(store: Store) -> None:
    limit = 120_000
    document = store.view("histogram", "--max", f"duration_ms={limit}")
    values = [run["duration_ms"] for run in store.fleet.runs if run["duration_ms"] <= limit]
    for row in rows_of(document):
        assert row["runs"] == sum(row["from"] <= value < row["to"] for value in values)
    assert sum(row["runs"] for row in rows_of(document)) == len(values)
    quantiles = rows_of(document, "quantiles")[0]
    assert (quantiles["min"], quantiles["max"]) == (min(values), max(values))
    assert quantiles["p95"] == oracle.nearest_rank(values, 95) and quantiles["runs"] == len(values)


@pytest.mark.parametrize("value", ["input_bytes", "agg.stages.shuffleWriteBytes.sum", "agg.executors.totalCores.sum"])
def test_histograms_of_other_values(store: Store, value: str) -> None:
    rows = store.rows("histogram", "--value", value, "--by", "type")
    known = [run for run in store.fleet.runs if run.get(value) is not None]
    for row in rows:
        assert row["runs"] == sum(row["from"] <= run[value] < row["to"] and run["type"] == row["type"] for run in known)
    assert sum(row["runs"] for row in rows) == len(known)


def test_points_are_runs(store: Store) -> None:
    rows = {row["app_id"]: row for row in store.rows("allocation")}
    known = {run["app_id"]: run for run in store.fleet.runs if run["input_bytes"] is not None}
    assert set(rows) == set(known)
    for name, run in known.items():
        assert rows[name]["cores"] == run.get("agg.executors.totalCores.sum")
        assert rows[name]["dynamic"] == int(run["property.spark.dynamicAllocation.enabled"] == "true")
    pictures = store.view("allocation")["pictures"]
    assert [(one["only"], one["value"]) for one in pictures] == [("dynamic", "0"), ("dynamic", "1")]
    partitions = store.rows("partitions")
    written = {run["app_id"]: run["agg.run.output_partitions"] for run in known.values() if run["agg.run.output_partitions"] > 0}
    assert {row["app_id"]: row["output_partitions"] for row in partitions} == written


def test_money_is_that_of_the_allocation(store: Store) -> None:
    sheet = store.path.parent / "prices.yaml"
    sheet.write_text(PRICES, encoding="utf-8")
    rows = store.rows("waste", "--prices", str(sheet))
    assert rows and {row["currency"] for row in rows} == {"USD"}
    for row in rows:
        held = [one for one in store.fleet.lists["allocations"] if one["application"] == row["application"]]
        core_hours, gib_hours = oracle.total(held, "core_ms") / 3_600_000, oracle.total(held, "mib_ms") / 1024 / 3_600_000
        priced = core_hours * 0.2 / 4 if held[0]["instance"] else core_hours * 0.06 + gib_hours * 0.01
        assert row["cost"] == pytest.approx(priced, rel=1e-6)
        assert row["wasted_cost"] == pytest.approx(priced * row["wasted_share"], rel=1e-6)
    document = store.view("waste")  # the sheets of the command do not price Kubernetes
    assert any("unknown" in note and "kubernetes" in note for note in document["notes"])
    assert {row["cost"] is None for row in rows_of(document)} == {True, False}


def test_runs_without_an_end_are_left_out(tmp_path: Path) -> None:
    """Spot's tables give executors of such a run an end of -1."""
    command = Command(tmp_path)
    with (ROOT / "corpus" / "logs" / "data_skew.zst").open("rb") as file:
        lines = zstandard.ZstdDecompressor().stream_reader(file).read().decode("utf-8").splitlines(keepends=True)
    (tmp_path / "whole.log").write_text("".join(lines), encoding="utf-8")
    app_id = next(json.loads(line)["App ID"] for line in lines if "SparkListenerApplicationStart" in line)
    half = "".join(lines[: len(lines) // 2]).replace(app_id, "app-20260101000000-0001")
    (tmp_path / "cut.log").write_text(half, encoding="utf-8")
    assert command("diagnose", "whole.log", "--brief", "--config", "none", "--store", "sqlite:fleet.db").returncode == 0
    alone = Store(tmp_path / "fleet.db", command)
    views = (["parallelism"], ["idle"], ["allocation"], ["partitions"], ["histogram", "--value", "agg.summary.core_cost"])
    expected = [alone.view(*view) for view in views]
    assert command("diagnose", "cut.log", "--brief", "--config", "none", "--store", "sqlite:fleet.db").returncode == 0
    both = Store(tmp_path / "fleet.db", command)
    cost = {run["status"]: run["agg.summary.core_cost"] for run in both.fleet.runs}
    assert set(cost) == {"completed", "truncated"} and cost["truncated"] < 0
    for view, before in zip(views, expected):
        after = both.view(*view)
        assert (after["rows"], after["tables"]) == (before["rows"], before["tables"]), view
        assert [note for note in after["notes"] if note not in before["notes"]] == ["Runs left out because their log has no end (in progress or truncated): 1."]
    compare_rows(both.rows("parallelism"), "type", oracle.parallelism(both.fleet, "type"))
    assert both.rows("idle")[0]["unused_core_ms"] > 0
    assert sum(row["runs"] for row in both.rows("histogram")) == 2  # a duration holds up to the last event


def test_ranks_of_the_oracle_are_exact() -> None:
    assert [oracle.nearest_rank(range(1, 101), percent) for percent in range(1, 101)] == list(range(1, 101))


# ---- One application ----


def test_the_trend_of_an_application(store: Store) -> None:
    document = store.view("runs", "--app", APP)
    rows, expected = rows_of(document), oracle.trend(store.fleet, APP)
    assert [row["start_ms"] for row in rows] == sorted((row["start_ms"] for row in rows), reverse=True)
    assert len(rows) == repeated_runs.COPIES and {row["app_id"] for row in rows if row["z"] is not None} == set(expected)
    for row in rows:
        if row["app_id"] in expected:
            assert row["adjusted_ms"] == pytest.approx(expected[row["app_id"]]["adjusted_ms"])
            assert row["z"] == pytest.approx(expected[row["app_id"]]["z"])
            assert row["outlier"] == int(abs(row["z"]) > 3.5)
    assert [row["app_id"][-3:] for row in rows if row["outlier"]] == [f"{repeated_runs.OUTLIER:03}"]


def test_runs_on_fewer_cores_are_no_outliers(tmp_path: Path) -> None:
    command, path = Command(tmp_path), tmp_path / "cores.db"
    suggested_runs.record(command, path)
    runs = suggested_runs.Runs(path)
    for i in range(12):
        runs.add(suggested_runs.Made(5, 4, duration_ms=100_000 + 500 * i))
    for i in range(4):
        runs.add(suggested_runs.Made(5, 2, duration_ms=200_000 + 500 * i))
    slow = runs.add(suggested_runs.Made(5, 4, duration_ms=200_000))
    rows = Store(path, command).rows("runs", "--app", "nightly")
    assert [row["app_id"] for row in rows if row["outlier"]] == [slow]


def test_a_lasting_change_and_what_changed_there(store: Store) -> None:
    document = store.view("runs", "--app", APP)
    changes = rows_of(document, "changes")
    assert len(changes) == 1 and changes[0]["app_id"].endswith(f"-{repeated_runs.CHANGED:03}")
    assert changes[0]["change"] == pytest.approx(0.5, abs=0.1)
    assert "version 1 -> 2" in changes[0]["changed"] and "spark.executor.cores 2 -> 4" in changes[0]["changed"]
    assert {row["segment"] for row in rows_of(document) if row["start_ms"] < changes[0]["start_ms"]} == {0}
    assert not rows_of(store.view("runs", "--app", "healthy_etl"), "changes")


@pytest.mark.parametrize("by", ["version", "date", "spark.executor.cores"])
def test_two_groups_of_runs(store: Store, by: str) -> None:
    document = store.view("compare", "--app", APP, "--by", by)
    rows = {row["measure"]: row for row in rows_of(document)}
    runs = [run for run in store.fleet.runs if run["application"] == APP and run["status"] == "completed"]
    before, after = ([run["duration_ms"] for run in runs if run["version"] == version] for version in ("1", "2"))
    duration = rows["duration_ms"]
    assert (duration["before_runs"], duration["after_runs"]) == (len(before), len(after))
    assert duration["shift"] == pytest.approx(oracle.shift(before, after))
    assert duration["shift_low"] <= duration["shift"] <= duration["shift_high"]
    assert duration["p"] == pytest.approx(oracle.p_value(before, after), rel=1e-6) or duration["p"] < 1e-4
    assert rows["adjusted_duration_ms"]["verdict"] == "more" and rows["input_bytes"]["verdict"] == "unclear"
    settings = {row["setting"]: (row["before"], row["after"]) for row in rows_of(document, "settings")}
    expected = {"version": ("1", "2"), "spark.executor.cores": ("2", "4"), "spark.sql.adaptive.enabled": ("false", "true")}
    assert settings == {key: value for key, value in expected.items() if key != by}


def test_quantiles_are_of_runs_with_a_value(store: Store) -> None:
    with sqlite3.connect(store.path) as db:
        (kept,) = db.execute("SELECT count(*) FROM run WHERE end_ms IS NOT NULL").fetchone()
        db.execute("UPDATE run SET input_bytes = NULL WHERE key IN (SELECT key FROM run ORDER BY key LIMIT 7)")
        try:
            db.commit()
            quantiles = rows_of(store.view("histogram", "--value", "input_bytes"), "quantiles")[0]
        finally:
            db.executemany("UPDATE run SET input_bytes = ? WHERE app_id = ? AND attempt = ?", [(one["input_bytes"], one["app_id"], one["attempt"]) for one in store.fleet.runs])
    assert quantiles["runs"] == kept - 7


@pytest.mark.parametrize(("view", "options", "titles"), [
    ("allocation", [], ["Application", "Input", "Duration", "Cores"]),
    ("findings", [], ["Rule", "Findings", "Saving", "Core hours saved"]),
    ("compare", ["--app", APP], ["Measure", "Median before", "Median after", "Shift", "Verdict"]),
    ("idle", [], ["Without a task", "Unused core hours"]),
    ("configurations", [], ["Runs", "Median duration"]),
    ("runs", ["--app", APP], ["Outcome", "Duration"]),
])  # fmt: skip
def test_narrow_text_keeps_what_the_view_is_about(store: Store, view: str, options: List[str], titles: List[str]) -> None:
    text = store.command("fleet", view, f"sqlite:{store.path}", "--width", "80", *options).stdout
    head = text.splitlines()[2]
    assert all(title in head for title in titles) and len(head) <= 80, head


def test_a_shift_downwards_has_a_sign(store: Store) -> None:
    options = ["--app", APP, "--by", "version", "--before", "2", "--after", "1"]
    row = next(row for row in store.rows("compare", *options) if row["measure"] == "adjusted_duration_ms")
    assert row["shift"] < 0 and row["verdict"] == "less"
    text = store.command("fleet", "compare", f"sqlite:{store.path}", *options).stdout
    line = next(line for line in text.splitlines() if "adjusted_duration_ms" in line)
    assert re.search(r"  -\d+\S* (ms|s|min)", line), line


def test_too_few_runs_are_not_judged(store: Store) -> None:
    day = f"{repeated_runs.FIRST_MS + 4 * 86_400_000}"
    document = store.view("compare", "--app", APP, "--by", "date", "--at", day)
    assert {row["verdict"] for row in rows_of(document)} == {"too few runs"}
    assert all(row["shift"] is None and row["p"] is None for row in rows_of(document))
    assert any("Too few runs: 3 before" in note for note in document["notes"])


@pytest.mark.parametrize(("options", "names", "counts"), [(["--by", "user"], ["user (none)", "user etl"], [0, 29]), (["--before", "7"], ["version 7", "version 2"], [0, 15])])
def test_a_group_without_runs(store: Store, options: List[str], names: List[str], counts: List[int]) -> None:
    document = store.view("compare", "--app", APP, *options)
    (row,) = rows_of(document)
    assert [row["before_runs"], row["after_runs"], row["shift"], row["verdict"]] == [*counts, None, "too few runs"]
    assert document["notes"][0] == f"Before: {names[0]}. After: {names[1]}."
    assert any("Too few runs: 0 before" in note for note in document["notes"]) and rows_of(document, "settings") == []


def test_runs_of_all_applications_are_compared(store: Store) -> None:
    document = store.view("compare")
    runs = [run for run in store.fleet.runs if run["status"] == "completed"]
    before, after = ([run["duration_ms"] for run in runs if run["version"] == version] for version in ("1", "2"))
    duration = next(row for row in rows_of(document) if row["measure"] == "duration_ms")
    assert (duration["before_runs"], duration["after_runs"]) == (len(before), len(after))
    assert duration["shift"] == pytest.approx(oracle.shift(before, after))
    assert any("Runs of all applications" in note for note in document["notes"])
    assert not any("Runs of all applications" in note for note in store.view("compare", "--app", APP)["notes"])


# ---- Adoption ----


@pytest.mark.parametrize(
    ("application", "key", "rule", "adoption"),
    [("disk_spill", "spark.memory.fraction", "disk-spill", "full"), ("straggler", "(program)", "straggler", "gone")],
)
def test_what_followed_advice_saved(store: Store, application: str, key: str, rule: str, adoption: str) -> None:
    document = store.view("adoption")
    row = next(row for row in rows_of(document) if (row["application"], row["key"], row["rule"]) == (application, key, rule))
    runs = sorted((run for run in store.fleet.runs if run["application"] == application), key=lambda run: run["start_ms"])
    first = repeated_runs.CHANGED
    assert (row["adoption"], row["adopted_ms"], row["runs_since"]) == (adoption, runs[first]["start_ms"], len(runs) - first)
    assert row["advised_runs"] == first  # no run is advised any more
    given = [Run(run["duration_ms"], run["core_ms"], run["input_bytes"] or 0, run["status"] == "completed") for run in runs]
    expected = realised(given, first, len(runs))
    assert row["verdict"] == "realised" and expected[0] == 2
    assert [row[name] for name in ("saved_ms", "saved_low_ms", "saved_core_ms")] == pytest.approx(expected[8:11], abs=1)
    assert [row["failed_before"], row["failed_after"]] == pytest.approx(expected[11:13])
    shares = [one for one in rows_of(document, "shares") if one["set"] == row["set"] and one["application"] == application]
    assert len(shares) == 1 and shares[0]["key"] == key
    spans = [11 if value else 10 for value in expected[11:13]]  # a window of ten completed runs, and the failed one among them
    for name, share, count in zip(("failed_before", "failed_after", "slow_before", "slow_after"), [*expected[11:13], *expected[14:16]], [*spans, 10, 10]):
        interval = fleet_statistics.share_interval(round(share * count), count)
        assert [shares[0][name + end] for end in ("", "_low", "_high")] == pytest.approx([share, *interval], abs=1e-6), name
    assert "version 1 -> 2" in row["confounded"] and "spark.memory.fraction" not in row["confounded"]


def test_saved_core_time_costs_what_the_application_pays(store: Store) -> None:
    sheet = store.path.parent / "prices.yaml"
    sheet.write_text(PRICES, encoding="utf-8")
    document = store.view("adoption", "--prices", str(sheet), "--by", "user")
    paid = {row["application"]: row["cost"] / row["core_ms"] for row in store.rows("waste", "--prices", str(sheet))}
    saved: Dict[str, float] = {}
    for row in rows_of(document):
        expected = None if row["saved_core_ms"] is None else paid[row["application"]] * row["saved_core_ms"]
        assert row["currency"] == "USD" and row["saved_cost"] == (None if expected is None else pytest.approx(expected, rel=1e-5))
        saved[row["user"]] = saved.get(row["user"], 0) + (expected or 0)
    assert sum(value > 0 for value in saved.values()) == 2
    for group in rows_of(document, "groups"):
        assert (group["saved_cost"] or 0) == pytest.approx(saved[group["user"]], rel=1e-5)
    narrowed = store.rows("adoption", "--app", "disk_spill", "--instance", "m5.xlarge", "--prices", str(sheet))[0]
    sums = [oracle.total([row for row in rows if row["application"] == "disk_spill"], "core_ms") for rows in (store.fleet.lists["allocations"], store.fleet.runs)]
    assert narrowed["saved_cost"] == pytest.approx(narrowed["saved_core_ms"] * sums[0] / sums[1] / 3_600_000 * 0.2 / 4, rel=1e-5)


def test_advice_that_nobody_followed(store: Store) -> None:
    rows = store.rows("adoption", "--app", "data_skew")
    assert {row["key"] for row in rows} == {
        "spark.sql.adaptive.advisoryPartitionSizeInBytes",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
    }
    assert {(row["adoption"], row["verdict"], row["saved_ms"]) for row in rows} == {("none", None, None)}
    one_set = [row for row in store.rows("adoption", "--app", "straggler") if row["adoption"] == "gone"]
    assert len(one_set) == 2 and len({row["set"] for row in one_set}) == 1
    assert sum(row["saved_ms"] is not None for row in one_set) == 1


# ---- Problems ----


def test_problems_by_cause(store: Store) -> None:
    document = store.view("problems")
    rows = rows_of(document)
    errors = {row["kind"]: row["count"] for row in rows if ":" in row["kind"]}
    assert errors == {"read: input": 4, "fetch: input": 2}  # "connection 4 refused" and "connection 5 refused" are one cause
    failures = [row for row in store.fleet.lists["findings"] if row["category"] == "failures" and not row["folded"]]
    assert sum(row["count"] for row in rows if ":" not in row["kind"]) == len(failures)
    outcomes = {row["outcome"]: row["runs"] for row in rows_of(document, "outcomes")}
    words = [run.get("outcome") or run["status"] for run in store.fleet.runs]
    assert outcomes == dict(Counter("running" if word == "in_progress" else word for word in words))
    narrowed = store.view("problems", "--user", "ann")
    assert not [row for row in rows_of(narrowed) if ":" in row["kind"]] and any("belong to no" in note for note in narrowed["notes"])


# ---- By a field ----

BY = {"user": "user", "status": "status", "application": "application", "tag.team": "tag.team", "spark.executor.memory": "property.spark.executor.memory"}


@pytest.mark.parametrize("by", BY)
def test_every_view_by_a_field(store: Store, by: str) -> None:
    for view in VIEWS:
        if view == "compare":
            continue  # it takes another field
        document = store.view(view, "--by", by)
        tables = [document, *document["tables"]]
        assert any(BY[by] in table["columns"] for table in tables), view
        assert all(len(set(table["columns"])) == len(table["columns"]) for table in tables), view
        assert document["rows"] and all(len(row) == len(document["columns"]) for row in document["rows"]), view


@pytest.mark.parametrize("by", ["user", "status", "application"])
def test_runs_by_a_field(store: Store, by: str) -> None:
    known = {run["app_id"]: run for run in store.fleet.runs}
    for options in (["runs", "--app", APP], ["allocation"], ["partitions"]):
        document = store.view(*options, "--by", by)
        assert {picture["series"] for picture in document["pictures"]} == {by}
        assert all(row[by] == known[row["app_id"]][by] for row in rows_of(document))
        plain = rows_of(store.view(*options))
        assert [row["app_id"] for row in rows_of(document)] == [row["app_id"] for row in plain]


def test_configurations_and_problems_by_a_field(store: Store) -> None:
    for row in store.rows("configurations", "--by", "user"):
        own = [run for run in store.rows("configurations", "--user", row["user"]) if all(run[name] == row[name] for name in list(row)[:6])]
        assert [{**one, "user": row["user"]} for one in own] == [row]
    rows = store.rows("problems", "--by", "user")
    failures = [row for row in store.fleet.lists["findings"] if row["category"] == "failures" and not row["folded"]]
    for user in repeated_runs.USERS:
        own = [{name: value for name, value in row.items() if name != "user"} for row in rows if row["user"] == user]
        assert own == store.rows("problems", "--user", user) and sum(row["count"] for row in own) == sum(one["user"] == user for one in failures)
    assert {row["user"] is None for row in rows if ":" in row["kind"]} == {True}  # errors of the crawler belong to no
                                                                                  # user


def test_adoption_by_a_field(store: Store) -> None:
    document = store.view("adoption", "--by", "user")
    rows, groups = rows_of(document), rows_of(document, "groups")
    users = {run["application"]: run["user"] for run in store.fleet.runs}
    assert all(row["user"] == users[row["application"]] for row in rows)
    assert len(groups) == len({row["user"] for row in rows}) > 1
    for group in groups:
        own = [row for row in rows if row["user"] == group["user"]]
        assert (group["recommendations"], group["adopted"]) == (len(own), sum(row["adopted_ms"] is not None for row in own))
        for name in ("promised_ms", "saved_ms", "saved_core_ms"):
            values = [row[name] for row in own if row[name] is not None]
            assert group[name] == (pytest.approx(sum(values), abs=len(own)) if values else None)
    assert any(group["saved_ms"] for group in groups)


# ---- All views ----


@pytest.mark.parametrize("view", VIEWS)
def test_formats_and_pictures(store: Store, view: str) -> None:
    options = ["--app", APP] if view == "compare" else []
    document = store.view(view, *options)
    tables = {"rows": document, **{one["name"]: one for one in document["tables"]}}
    for table in tables.values():
        assert len(table["columns"]) == len(table["titles"]) == len(table["units"]) == len(set(table["columns"]))
        assert all(len(row) == len(table["columns"]) for row in table["rows"]) and len(table["rows"]) <= 5000
    for picture in document["pictures"]:
        columns = tables[picture["table"]]["columns"]
        assert all(picture[name] in columns for name in ("x", "y", "series", "mark", "size", "only") if picture[name])
    for question in document["query"]:
        answer = store.command("store", "query", f"sqlite:{store.path}", json.dumps(question))
        assert answer.returncode == 0, answer.stderr
    done = store.command("fleet", view, f"sqlite:{store.path}", "--format", "csv", *options)
    table = list(csv.reader(io.StringIO(done.stdout)))
    assert table[0] == document["columns"] and len(table) == 1 + len(document["rows"])
    again = store.command("fleet", view, f"sqlite:{store.path}", "--format", "json", *options)
    assert json.loads(again.stdout) == document
    for form in ("text", "markdown"):
        text = store.command("fleet", view, f"sqlite:{store.path}", "--format", form, "--width", "200", *options)
        assert text.returncode == 0 and document["titles"][0] in text.stdout


def test_an_empty_store(tmp_path: Path) -> None:
    command = Command(tmp_path)
    with sqlite3.connect(tmp_path / "empty.db"):
        pass
    (tmp_path / "empty.db").unlink()
    log = ROOT / "corpus" / "logs" / "data_skew.zst"
    assert command("diagnose", log, "--brief", "--store", "sqlite:empty.db").returncode == 0
    for view in VIEWS:
        options = ["--app", "none"] if view == "compare" else ["--user", "nobody"]
        done = command("fleet", view, "sqlite:empty.db", "--format", "json", *options)
        assert done.returncode == 0, (view, done.stderr)
        document = json.loads(done.stdout)
        schemas.check(document, f"pyrometer.fleet_{view}-1.json")
        assert [row for row in rows_of(document) if row.get("verdict") != "too few runs"] == []


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["usgae", "sqlite:fleet.db"], 2, "did you mean 'usage'"),
        (["usage", "sqlite:none.db"], 3, "none.db"),
        (["usage"], 2, "there is no store"),
        (["usage", "sqlite:fleet.db", "--store", "sqlite:fleet.db"], 2, "twice"),
        (["usage", "sqlite:fleet.db", "--since", "yesterday"], 2, "since"),
        (["usage", "sqlite:fleet.db", "--tag", "team"], 2, "KEY=VALUE"),
        (["runs", "sqlite:fleet.db", "--max", "duration_ms=x"], 2, "FIELD=NUMBER"),
        (["runs", "sqlite:fleet.db", "--by", "usr"], 2, "did you mean 'user'"),
        (["problems", "sqlite:fleet.db", "--by", "usr"], 2, "did you mean 'user'"),
        (["problems", "sqlite:fleet.db", "--value", "input_bytes"], 2, "no option 'value'"),
        (["compare", "sqlite:fleet.db", "--app", APP, "--at", "2026-01-05"], 2, "date only"),
        (["histogram", "sqlite:fleet.db", "--value", "name"], 2, "name"),
    ],
)
def test_wrong_questions(store: Store, arguments: List[str], status: int, words: str) -> None:
    done = store.command("fleet", *arguments)
    assert (done.returncode, done.stdout) == (status, "") and words in done.stderr, done.stderr
    assert done.stderr.count("\n") <= 2


def test_views_change_nothing(store: Store) -> None:
    before = store.path.read_bytes()
    store.view("runs")
    assert store.path.read_bytes() == before
