"""trace analyze: sums, counts and times against babeltrace2, perf's own analysis and the event log."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List

import pytest
import schemas
from conftest import ROOT, binary_path, run_command
from recorded_traces import CASES, unpacked

RUNS = ["healthy-compute", "cpu-hog", "lock", "slow-peer"]
LINE = re.compile(r"\s*[\d.]+\s+\[\d+\]\s+(.*?)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*$")
THREAD = re.compile(r"\[(\d+)(?:/\d+)?\]$")
pytestmark = pytest.mark.slow


def sql(folder: Path, statement: str) -> List[Dict[str, Any]]:
    run = run_command([str(binary_path()), "sql", str(folder), statement, "--format", "json"])
    assert run.exit == 0, run.explain()
    rows: List[Dict[str, Any]] = run.json
    return rows


def analyzed(folder: Path) -> Dict[str, Any]:
    run = run_command([str(binary_path()), "trace", "analyze", str(folder), "--format", "json"])
    assert run.exit == 0, run.explain()
    document: Dict[str, Any] = run.json
    return document


@pytest.mark.parametrize("name", RUNS)
def test_parts_of_a_task_add_up_to_the_nanosecond(name: str) -> None:
    rows = sql(unpacked(name), "SELECT w.task, sum(w.duration_ns) AS parts, (SELECT sum(o.end_ns - o.start_ns) FROM owners o"
                               " WHERE o.task = w.task) AS whole FROM task_waits w GROUP BY 1")
    assert rows
    assert all(row["parts"] == row["whole"] for row in rows), rows


@pytest.mark.parametrize("name", RUNS)
def test_states_of_a_thread_add_up_to_the_trace(name: str) -> None:
    rows = sql(unpacked(name), "SELECT thread, sum(duration_ns) AS parts, (SELECT last_ns - first_ns FROM artefacts"
                               " WHERE kind = 'ctf') AS whole FROM thread_times GROUP BY 1")
    assert rows
    assert max(row["parts"] for row in rows) == rows[0]["whole"]
    assert all(row["parts"] <= row["whole"] for row in rows)


@pytest.mark.parametrize("name", RUNS)
def test_states_of_tasks_are_those_of_their_parts(name: str) -> None:
    states = sql(unpacked(name), "SELECT state, sum(duration_ns) AS ns FROM task_states WHERE state <> 'unknown' GROUP BY 1")
    parts = sql(unpacked(name), "SELECT state, sum(duration_ns) AS ns FROM task_waits WHERE state <> 'unknown' GROUP BY 1")
    assert {row["state"]: row["ns"] for row in states} == {row["state"]: row["ns"] for row in parts}


@pytest.mark.parametrize("name", RUNS)
def test_traced_tasks_are_those_of_the_event_log(name: str) -> None:
    rows = sql(unpacked(name), "SELECT t.id, t.launch_ms, t.finish_ms, o.start_ns, o.end_ns FROM tasks t JOIN owners o"
                               " ON o.task = t.id WHERE o.method = 'named'")
    start = sql(unpacked(name), "SELECT start_ms FROM applications")[0]["start_ms"]
    assert rows
    for row in rows:
        assert row["launch_ms"] - 5 <= start + row["start_ns"] / 1e6 <= start + row["end_ns"] / 1e6 <= row["finish_ms"] + 5, row


@pytest.mark.parametrize("name", RUNS)
def test_the_document_has_its_schema(name: str) -> None:
    document = analyzed(unpacked(name))
    schemas.check(document, "pyrometer.trace-1.json")
    assert document["events"] == sum(row["count"] for row in document["event_classes"]) > 0
    assert -5 < document["residual"]["p50_ms"] < 100


@pytest.mark.parametrize("name", ["cpu-hog"])
def test_events_are_those_of_babeltrace(name: str) -> None:
    program = shutil.which("babeltrace2")
    if program is None:
        pytest.skip("babeltrace2 is missing (Debian's package has that name)")
    out = subprocess.run([program, "--names", "none", "--no-delta", str(unpacked(name) / "kernel")], check=True,
                         capture_output=True, text=True).stdout
    names = Counter(match.group(1) for line in out.splitlines() if (match := re.match(r"\[[^\]]*\] (?:\S+ )?(\w+:\w+): ", line)))
    assert {row["name"]: row["count"] for row in analyzed(unpacked(name))["event_classes"]} == dict(names)


def test_running_time_is_that_of_the_processes(tmp_path: Path) -> None:
    """What processes say of their own processor time, and what `perf sched timehist` says of the same recording."""
    if shutil.which("perf") is None:
        pytest.skip("perf is missing (Debian's package is linux-perf)")
    # More processes than processors: where a processor is idle, some kernels do not trace who wakes it.
    work = """import hashlib, os, time
for _ in range(os.cpu_count()):
    os.fork()
until = time.monotonic() + 2
while time.monotonic() < until:
    hashlib.sha256(bytes(200000)).hexdigest()
open(str(os.getpid()), "w").write(str(time.process_time_ns()))
"""
    (tmp_path / "work.py").write_text(work, encoding="utf-8")
    script = f"""mount -t tracefs t /sys/kernel/tracing 2>/dev/null
cd {tmp_path} && perf record -q -k CLOCK_MONOTONIC -a -m 4M -o data -e sched:sched_switch,sched:sched_wakeup \
-e sched:sched_waking,sched:sched_wakeup_new,sched:sched_migrate_task -- python3 work.py \
&& perf data convert --to-ctf=ctf -i data"""
    made = subprocess.run(["unshare", "--mount", "sh", "-c", script], check=False, capture_output=True, text=True)
    if made.returncode != 0 or not (tmp_path / "ctf" / "metadata").is_file():
        pytest.skip(f"this machine records no trace: {made.stderr.strip()[-200:]}")
    used = {int(path.name): int(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir() if path.name.isdigit()}
    history = subprocess.run(["perf", "sched", "timehist", "-i", str(tmp_path / "data")], check=True, capture_output=True,
                             text=True).stdout
    perf: Counter[int] = Counter()
    for line in history.splitlines():
        match = LINE.match(line)
        thread = THREAD.search(match.group(1)) if match else None
        if match and thread:
            perf[int(thread.group(1))] += round(float(match.group(4)) * 1e6)
    run = run_command([str(binary_path()), "trace", "analyze", str(tmp_path / "ctf"), "--format", "json"])
    assert run.exit == 0, run.explain()
    ours = {process["pid"]: process["states_ns"].get("running-user", 0) for process in run.json["processes"]}
    compared = [(pid, used[pid], perf[pid], ours.get(pid)) for pid in used]
    assert len(compared) >= 4
    end_ns = 20_000_000  # what a process does after it has asked
    assert all(-0.01 * its <= mine - its <= 0.01 * its + end_ns for _, its, _, mine in compared), compared
    # Where events are missing, perf takes the time of an idle processor for that of the thread that ran there last.
    assert any(abs(theirs - mine) <= 0.01 * theirs for _, _, theirs, mine in compared), compared


def test_hosts_are_put_on_one_clock() -> None:
    recorded = os.environ.get("PYROMETER_TRACES")
    if not recorded:
        pytest.skip("PYROMETER_TRACES names no folder of traces")
    clocks = sql(Path(recorded) / "synctraces", "SELECT host, method, matches, error_ns FROM clocks ORDER BY id")
    assert [clock["method"] for clock in clocks] == ["metadata", "tcp-segments"]
    assert clocks[1]["matches"] > 20
    assert clocks[1]["error_ns"] < 1_000_000


def test_memory_grows_with_states_of_tasks_only() -> None:
    folder = unpacked("single-bytes")
    states = sql(folder, "SELECT count(*) AS n FROM task_states")[0]["n"]
    run = run_command([str(binary_path()), "trace", "analyze", str(folder)])
    assert run.exit == 0, run.explain()
    assert run.rss_bytes < (24 << 20) + 60 * states, run.explain()


def test_a_folder_without_a_trace_says_what_one_is(tmp_path: Path) -> None:
    run = run_command([str(binary_path()), "trace", "analyze", str(tmp_path)])
    assert run.exit == 3
    assert b"perf data convert --to-ctf" in run.err


def test_a_file_of_perf_says_how_it_is_converted(tmp_path: Path) -> None:
    (tmp_path / "perf.data").write_bytes(b"PERFILE2" + bytes(100))
    run = run_command([str(binary_path()), "trace", "analyze", str(tmp_path / "perf.data")])
    assert run.exit == 3
    assert f"--to-ctf=FOLDER -i {tmp_path / 'perf.data'}".encode() in run.err


def test_every_case_is_recorded() -> None:
    logs = {path.name.removesuffix(".tar.xz") for path in (ROOT / "corpus" / "traces" / "logs").glob("*.tar.xz")}
    assert logs == set(CASES)


def test_the_same_bytes_with_any_number_of_threads() -> None:
    first, second = (run_command([str(binary_path()), "trace", "analyze", str(unpacked("cpu-hog")), "-f", "json", "--threads", count]).out
                     for count in ("1", "4"))
    assert first == second
    assert json.loads(first)["tasks"]["traced"] > 0
