"""`pyrometer export` of a run with a trace of the kernel: Perfetto's own classes, babeltrace2 and the tables say the same."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median_high
from typing import Any, Dict, List, Tuple
from xml.etree import ElementTree

import pytest
from conftest import ROOT, binary_path, run_command
from made_trace import LOG, trace_run
from trace_kit import references

STATES = re.findall(r'^PYRO_KERNEL_STATE\(\w+, "([\w-]+)"', (ROOT / "src/model/tracks/kernel_states.def").read_text(encoding="utf-8"), re.M)
Sums = Dict[str, Tuple[int, int]]  # of each state: how many, and their nanoseconds
pytestmark = pytest.mark.sanitize


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trace_run(tmp_path_factory.mktemp("traced") / "run")


def sql(log: Path, statement: str) -> List[Dict[str, Any]]:
    run = run_command([str(binary_path()), "sql", str(log), statement, "--format", "json"])
    assert run.exit == 0, run.explain()
    rows: List[Dict[str, Any]] = run.json
    return rows


def export(log: Path, *words: str) -> bytes:
    run = run_command([str(binary_path()), "export", str(log), *words])
    assert run.exit == 0, run.explain()
    return run.out


def sums_of_table(log: Path) -> Sums:
    rows = sql(log, "SELECT state, count(*) AS many, sum(duration_ns) AS ns FROM task_states GROUP BY 1")
    return {row["state"]: (row["many"], row["ns"]) for row in rows}


# ---- Perfetto -------------------------------------------------------------------------------------------------------


def test_perfettos_slices_are_the_states(traced: Path) -> None:
    trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto's wheel has the classes")
    trace = trace_pb2.Trace()
    trace.ParseFromString(export(traced, "--to", "perfetto"))
    tracks = {packet.track_descriptor.uuid: packet.track_descriptor for packet in trace.packet if packet.HasField("track_descriptor")}
    found: Dict[str, List[int]] = defaultdict(list)
    notes: Counter[Tuple[str, str]] = Counter()
    threads = set()
    began: Dict[int, Any] = {}
    for packet in trace.packet:
        event = packet.track_event
        if not packet.HasField("track_event"):
            continue
        if event.type == 1:
            assert event.track_uuid not in began
            began[event.track_uuid] = packet
            continue
        begin = began.pop(event.track_uuid)
        if "kernel" not in begin.track_event.categories:
            continue
        found[begin.track_event.name].append(packet.timestamp - begin.timestamp)
        threads.add(event.track_uuid)
        for note in begin.track_event.debug_annotations:
            if note.name != "task":
                notes[note.name, note.string_value] += 1
    assert {state: (len(each), sum(each)) for state, each in found.items()} == sums_of_table(traced)
    for name in ("what", "by"):
        rows = sql(traced, f'SELECT "{name}" AS text, count(*) AS many FROM task_states WHERE text IS NOT NULL GROUP BY 1')
        assert {row["text"]: row["many"] for row in rows} == {text: many for (key, text), many in notes.items() if key == name}
    rows = sql(traced, "SELECT DISTINCT t.tid, p.executor, p.pid FROM task_states s JOIN threads t ON t.id = s.thread JOIN threads p ON p.id = t.parent")
    named = {(tracks[track].name, tracks[tracks[track].parent_uuid].name) for track in threads}
    assert named == {(f"thread {row['tid']}", f"Threads of executor {row['executor']} (process {row['pid']})") for row in rows}


def test_without_a_trace_perfettos_bytes_are_those_of_the_log(traced: Path, tmp_path: Path) -> None:
    shutil.copytree(traced / "eventlog", tmp_path / "run")
    alone = export(LOG, "--to", "perfetto")
    assert export(tmp_path / "run", "--to", "perfetto") == alone
    assert export(traced, "--to", "perfetto").startswith(alone)


# ---- Trace Compass --------------------------------------------------------------------------------------------------


def compass(log: Path, folder: Path) -> Path:
    assert export(log, "--to", "trace-compass", "-o", str(folder)) == b""
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == ["analysis.xml", "ctf", "ctf/metadata", "ctf/tasks"]
    return folder


def test_babeltrace2_reads_the_states(traced: Path, tmp_path: Path) -> None:
    if shutil.which("babeltrace2") is None:
        pytest.skip("babeltrace2 is missing (Debian's package babeltrace2 has it)")
    events = references(compass(traced, tmp_path / "new" / "run") / "ctf")
    assert [event.time_ns for event in events] == sorted(event.time_ns for event in events)
    states = [event for event in events if event.name == "task_state"]
    (start,) = sql(traced, "SELECT start_ms FROM applications")
    rows = sql(traced, "SELECT s.task, s.stage, t.tid, s.state, s.start_ns, s.duration_ns, coalesce(what, '-') AS what, coalesce(by, '-') AS by "
                       "FROM task_states s JOIN threads t ON t.id = s.thread")
    told = Counter((event.time_ns, *(event.fields[name] for name in ("task", "stage", "tid", "state", "duration", "what", "by"))) for event in states)
    origin = start["start_ms"] * 10**6
    assert told == Counter((origin + row.pop("start_ns"), *row.values()) for row in rows)
    assert all(STATES[event.fields["state_id"]] == event.fields["state"] for event in states)
    sums: Dict[str, Tuple[int, int]] = {}
    for event in states:
        many, ns = sums.get(event.fields["state"], (0, 0))
        sums[event.fields["state"]] = (many + 1, ns + event.fields["duration"])
    assert sums == sums_of_table(traced)
    open_threads = set()
    for event in events:  # each is ended where no other one of the same task follows
        if event.name == "task_state":
            open_threads.add(event.fields["tid"])
        elif event.name == "task_state_end":
            open_threads.remove(event.fields["tid"])
    assert not open_threads


@pytest.mark.parametrize("with_trace", [True, False])
def test_babeltrace2_reads_tasks_stages_and_findings(traced: Path, tmp_path: Path, with_trace: bool) -> None:
    if shutil.which("babeltrace2") is None:
        pytest.skip("babeltrace2 is missing (Debian's package babeltrace2 has it)")
    log = traced if with_trace else LOG
    events = references(compass(log, tmp_path / "run") / "ctf")
    assert any(event.name == "task_state" for event in events) == with_trace
    for name, statement in (
        ("task_begin", "SELECT launch_ms * 1000000 AS at, id AS task FROM tasks WHERE status <> 'resubmitted'"),
        ("task_end", "SELECT finish_ms * 1000000 AS at, id AS task, status FROM tasks WHERE status <> 'resubmitted'"),
        ("stage_begin", "SELECT submitted_ms * 1000000 AS at, id AS stage, attempt, name FROM stages"),
        ("stage_end", "SELECT completed_ms * 1000000 AS at, id AS stage, attempt, status FROM stages"),
    ):
        rows = sql(log, statement)
        own = [event for event in events if event.name == name]
        assert rows
        assert sorted((event.time_ns, *(event.fields[key] for key in list(rows[0])[1:])) for event in own) == sorted(tuple(row.values()) for row in rows)
    found = run_command([str(binary_path()), "diagnose", str(log), "--format", "json"]).json["findings"]
    told = [event.fields for event in events if event.name == "finding"]
    assert sorted((one["rule"], one["severity"], one["title"], one["text"]) for one in told) == sorted(
        (one["rule"], one["severity"], one["title"], one["cause"]) for one in found)


def test_an_export_replaces_the_one_before(traced: Path, tmp_path: Path) -> None:
    def content(folder: Path) -> Dict[str, bytes]:
        return {path.name: path.read_bytes() for path in compass(traced, folder).rglob("*") if path.is_file()}

    once = content(tmp_path / "run")
    compass(LOG, tmp_path / "run")
    assert content(tmp_path / "run") == once


def test_the_analysis_colors_every_state(traced: Path, tmp_path: Path) -> None:
    root = ElementTree.parse(compass(traced, tmp_path / "run") / "analysis.xml").getroot()
    metadata = (tmp_path / "run" / "ctf" / "metadata").read_text(encoding="utf-8")
    events = {name: set(re.findall(r"(?:i64|u8|string) (\w+);", fields))
              for name, fields in re.findall(r'name = "(\w+)";\s*id = \d+;\s*fields := struct \{(.*?)\}', metadata)}
    views = root.findall("timeGraphView")
    assert len(views) == 2
    for view in views:
        colors = {value.get("name"): (value.get("value"), value.get("color") or "") for value in view.findall("definedValue")}
        assert [colors[state][0] for state in STATES] == [str(number) for number in range(len(STATES))]
        own = [colors[state][1] for state in STATES]
        assert len(set(own)) == len(own) and all(re.fullmatch("#[0-9A-F]{6}", color) and color != "#000000" for color in own)
    (provider,) = root.findall("stateProvider")
    assert {analysis.get("id") for view in views for analysis in view.iter("analysis")} == {provider.get("id")}
    for handler in provider.findall("eventHandler"):
        fields = {inner.get("value") for inner in handler.iter() if inner.get("type") == "eventField"}
        assert fields and fields <= events[handler.get("eventName", "")]


def test_the_analysis_is_of_its_schema(traced: Path, tmp_path: Path) -> None:
    """xmlDefinition.xsd of Trace Compass' sources (EPL-2.0), next to those that it includes."""
    schema = os.environ.get("PYROMETER_TRACE_COMPASS_SCHEMA")
    if not schema:
        pytest.skip("no registry has Trace Compass' schema: PYROMETER_TRACE_COMPASS_SCHEMA may name its xmlDefinition.xsd")
    etree = pytest.importorskip("lxml.etree", reason="lxml checks schemas")
    etree.XMLSchema(etree.parse(schema)).assertValid(etree.parse(str(compass(traced, tmp_path / "run") / "analysis.xml")))


def test_a_folder_is_needed(traced: Path, tmp_path: Path) -> None:
    for words in ([], ["-o", "-"], ["-o", ""]):
        run = run_command([str(binary_path()), "export", str(traced), "--to", "trace-compass", *words])
        assert run.exit == 2 and b"-o" in run.err, run.explain()
    (tmp_path / "file").write_text("")
    run = run_command([str(binary_path()), "export", str(traced), "--to", "trace-compass", "-o", str(tmp_path / "file")])
    assert run.exit == 4 and b"file" in run.err, run.explain()
    run = run_command([str(binary_path()), "export", str(tmp_path / "none"), "--to", "trace-compass", "-o", str(tmp_path / "made")])
    assert run.exit == 3 and not (tmp_path / "made").exists()


# ---- Features -------------------------------------------------------------------------------------------------------


def features(log: Path, rows: str) -> List[Dict[str, Any]]:
    text = export(log, "--features", rows).decode()
    assert text.endswith("\r\n")
    return [{name: json.loads(value) if value else None for name, value in row.items()} for row in csv.DictReader(io.StringIO(text))]


def columns(rows: str) -> List[str]:
    return re.findall(r"^PYRO_FEATURE\((\w+)", (ROOT / f"src/analyze/features/{rows[:-1]}_features.def").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("rows", ["tasks", "stages"])
def test_every_state_is_a_feature(rows: str) -> None:
    assert [name for name in columns(rows) if name.replace("_share", "").replace("_", "-") in STATES] == [
        state.replace("-", "_") + "_share" for state in STATES]


def test_features_of_tasks(traced: Path) -> None:
    rows, tasks = features(traced, "tasks"), sql(traced, "SELECT * FROM tasks")
    assert list(rows[0]) == columns("tasks") and len(rows) == len(tasks) > 0
    ranks = ["PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"]
    for row, task in zip(rows, tasks):
        for name, value in row.items():
            if name in task and name not in ("locality",):
                assert value == task[name], name
        assert row["task"] == task["id"] and ranks[row["locality"]] == task["locality"]
        assert row["duration_ms"] == task["finish_ms"] - task["launch_ms"]
        assert row["cpu_ms"] == task["cpu_ns"] / 1e6 and row["shuffle_write_ms"] == task["shuffle_write_ns"] / 1e6
        assert row["read_bytes"] == task["input_bytes"] + task["shuffle_remote_bytes"] + task["shuffle_local_bytes"]
        own = [other for other in rows if (other["stage"], other["stage_attempt"], other["succeeded"]) == (row["stage"], row["stage_attempt"], 1)]
        for ratio, name in (("duration_to_median", "duration_ms"), ("read_bytes_to_median", "read_bytes")):
            middle = median_high(other[name] for other in own)
            assert row[ratio] == (pytest.approx(row[name] / middle) if middle > 0 else None)


def test_features_of_traces(traced: Path) -> None:
    waits = sql(traced, "SELECT task, state, root, duration_ns, count, bytes FROM task_waits")
    of_task: Dict[int, List[Dict[str, Any]]] = defaultdict(list)
    for wait in waits:
        of_task[wait["task"]].append(wait)
    seen = 0
    for row in features(traced, "tasks"):
        own = of_task[row["task"]]
        whole = sum(wait["duration_ns"] for wait in own)
        if all(wait["root"] == "unknown" for wait in own):
            assert [row[name] for name in columns("tasks")[columns("tasks").index("traced_ms"):]] == [None] * (len(STATES) + 4)
            continue
        seen += 1
        assert row["traced_ms"] == pytest.approx(whole / 1e6)
        for state in STATES:
            ns = sum(wait["duration_ns"] for wait in own if wait["root"] == state)
            assert row[state.replace("-", "_") + "_share"] == pytest.approx(ns / whole)
        calls = [wait for wait in own if wait["state"] == "running-system"]
        moved = [wait for wait in calls if wait["bytes"] is not None]
        assert row["calls"] == sum(wait["count"] for wait in calls)
        assert row["call_bytes"] == (sum(wait["bytes"] for wait in moved) if moved else None)
        assert row["bytes_per_call"] == (pytest.approx(row["call_bytes"] / sum(wait["count"] for wait in moved)) if moved else None)
    assert seen > 10


def test_features_of_stages(traced: Path) -> None:
    rows, stages, tasks = features(traced, "stages"), sql(traced, "SELECT * FROM stages"), features(traced, "tasks")
    assert list(rows[0]) == columns("stages") and len(rows) == len(stages) > 0
    for row, stage in zip(rows, stages):
        own = [task for task in tasks if (task["stage"], task["stage_attempt"]) == (row["stage"], row["stage_attempt"])]
        for name, value in row.items():
            if name in stage:
                assert value == stage[name], name
        for name in ("min", "p25", "median", "p75", "p95", "max"):
            assert row[f"duration_{name}_ms"] == stage[f"duration_{name}"]
        assert row["read_bytes_max"] == max(task["read_bytes"] for task in own)
        assert row["process_local_share"] == pytest.approx(sum(task["locality"] == 0 for task in own) / len(own))
        assert row["traced_tasks"] == sum(task["traced_ms"] is not None for task in own) > 0
        assert row["traced_ms"] == pytest.approx(sum(task["traced_ms"] or 0 for task in own))
        assert row["calls"] == sum(task["calls"] or 0 for task in own)
        assert sum(row[state.replace("-", "_") + "_share"] for state in STATES) == pytest.approx(1)


def test_a_task_without_metrics_has_none() -> None:
    log = ROOT / "corpus" / "logs" / "executor_lost.zst"
    tasks = sql(log, "SELECT id, has_metrics FROM tasks")
    metrics = columns("tasks")[columns("tasks").index("scheduler_delay_ms") : columns("tasks").index("duration_to_median")]
    without = {row["task"] for row in features(log, "tasks") if all(row[name] is None for name in metrics)}
    assert without == {task["id"] for task in tasks if not task["has_metrics"]} and 0 < len(without) < len(tasks)


@pytest.mark.parametrize("rows", ["tasks", "stages"])
def test_features_without_a_trace(traced: Path, rows: str) -> None:
    names = columns(rows)
    first = names.index("traced_tasks" if rows == "stages" else "traced_ms")
    for alone, whole in zip(features(LOG, rows), features(traced, rows)):
        assert [alone[name] for name in names[:first]] == [whole[name] for name in names[:first]]
        assert [alone[name] for name in names[first:]] == [None] * (len(names) - first)


def test_one_thing_is_exported() -> None:
    for words in (["--features", "jobs"], ["--features", "tasks", "--to", "otlp"], ["--features", "tasks", "--anonymized"]):
        assert run_command([str(binary_path()), "export", str(LOG), *words]).exit == 2
