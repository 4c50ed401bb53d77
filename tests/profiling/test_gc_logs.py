"""Logs of garbage collectors over all combinations of flags and decorations: what the product reads, what was written, and what
a second reading finds are the same."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Dict, Tuple

import pytest
from conftest import ROOT, run_command
from gc_log_writer import DECORATIONS, FLAGS, OLD_COLLECTORS, STAMPS, UNIFIED_COLLECTORS, OldLog, OldShenandoahLog, UnifiedLog, Written, read_old, read_old_shenandoah, read_unified

SERIAL = ROOT / "tests" / "artefacts" / "gc" / "serial"
SUMS = (
    "SELECT t.executor AS executor, sum(s.kind = 'gc-pause') AS pauses, sum(CASE WHEN s.kind = 'gc-pause' THEN s.duration_ns ELSE 0 END) AS pause_ns, "
    "sum(s.kind = 'gc') AS phases, sum(CASE WHEN s.kind = 'gc' THEN s.duration_ns ELSE 0 END) AS phase_ns "
    "FROM spans s JOIN threads t ON t.id = s.thread GROUP BY t.executor"
)
HEAPS = (
    "SELECT t.executor AS executor, CAST(sum(p.value) AS INTEGER) AS bytes FROM points p JOIN series s ON s.id = p.series "
    "JOIN threads t ON t.id = s.thread GROUP BY t.executor"
)


def folder_of(target: Path, logs: Dict[str, Written]) -> Path:
    """An application whose executors wrote these logs."""
    target.mkdir()
    log = next(SERIAL.glob("app-*.zst"))
    shutil.copy(log, target)
    for executor, one in logs.items():
        (target / f"{log.name.split('.')[0]}-{executor}.gc").write_text(one.text, encoding="ascii")
    return target


def query(binary: str, folder: Path, statement: str) -> Dict[str, Tuple[int, ...]]:
    run = run_command([binary, "sql", str(folder), statement, "--format", "json"])
    assert (run.exit, run.err) == (0, b""), run.explain()
    return {row["executor"]: tuple(list(row.values())[1:]) for row in json.loads(run.out)}


def check(binary: str, folder: Path, logs: Dict[str, Written]) -> None:
    sums, heaps = query(binary, folder, SUMS), query(binary, folder, HEAPS)
    for executor, one in logs.items():
        assert sums[executor] == one.totals()[:4], one.text
        assert heaps.get(executor, (0,)) == one.totals()[4:], one.text


@pytest.mark.parametrize("collector", OLD_COLLECTORS)
def test_java_7_and_8_with_all_flags(binary: str, tmp_path: Path, collector: str) -> None:
    generator = random.Random(f"flags of {collector}")
    logs = {}
    chosen = [subset for count in range(len(FLAGS) + 1) for subset in itertools.combinations(FLAGS, count)]
    assert len(chosen) == 2 ** len(FLAGS)
    for number, (flags, stamps) in enumerate(itertools.product(chosen, STAMPS)):
        one = OldLog(collector, flags, stamps, generator.choice((7, 8)), generator).write(generator.randrange(1, 6))
        assert read_old(one.text) == one.totals()[:4], one.text
        logs[str(number)] = one
    check(binary, folder_of(tmp_path / "run", logs), logs)


def test_shenandoah_of_java_8(binary: str, tmp_path: Path) -> None:
    generator = random.Random("Shenandoah")
    logs = {}
    for number, (flags, stamps) in enumerate(itertools.product(((), ("Details",), ("GCID",), ("Details", "GCID")), STAMPS * 4)):
        one = OldShenandoahLog(flags, stamps, generator).write(generator.randrange(1, 9))
        assert read_old_shenandoah(one.text) == one.totals()[:4], one.text
        logs[str(number)] = one
    check(binary, folder_of(tmp_path / "run", logs), logs)


def test_times_of_shenandoah_are_of_the_begin_or_of_the_end(binary: str, tmp_path: Path) -> None:
    """With details, a line for the begin has its own time, and the other one the time of the end."""
    stamp = "2024-03-01T09:15:{:02d}.000+0000: "
    plain = Written(f"{stamp.format(10)}[Pause Full 20M->10M(64M), 4000.000 ms]\n")
    detailed = Written(f"{stamp.format(10)}[Pause Full, start]\n{stamp.format(14)}[Pause Full 20M->10M(64M), 4000.000 ms]\n")
    folder = folder_of(tmp_path / "run", {"1": plain, "2": detailed})
    times = "SELECT t.executor AS executor, min(s.start_ns) AS at FROM spans s JOIN threads t ON t.id = s.thread GROUP BY t.executor"
    found = query(binary, folder, times)
    assert found["1"] == found["2"]


def test_unified_logs_with_all_decorations(binary: str, tmp_path: Path) -> None:
    generator = random.Random("decorations")
    timed = {}
    for number in range(2 ** len(DECORATIONS)):
        decorations = [one for i, one in enumerate(DECORATIONS) if number >> i & 1]
        collector = UNIFIED_COLLECTORS[number % len(UNIFIED_COLLECTORS)]
        one = UnifiedLog(collector, decorations, generator).write(generator.randrange(1, 4))
        assert read_unified(one.text) == one.totals()[:4], one.text
        if any("time" in name for name in decorations) and generator.random() < 0.25:
            timed[str(number)] = one
    assert len(timed) > 900
    check(binary, folder_of(tmp_path / "run", timed), timed)


@pytest.mark.parametrize("decorations", [(), ("level", "tags"), ("pid", "hostname")])
@pytest.mark.parametrize("collector", UNIFIED_COLLECTORS)
def test_without_times_collections_are_counted(binary: str, tmp_path: Path, collector: str, decorations: Tuple[str, ...]) -> None:
    one = UnifiedLog(collector, decorations, random.Random(f"{collector}{decorations}")).write(3)
    folder = folder_of(tmp_path / "run", {"1": one})
    run = run_command([binary, "sql", str(folder), "SELECT executor, kind, rows AS records, problems FROM artefacts", "--format", "json"])
    assert run.exit == 0, run.explain()
    found = json.loads(run.out)
    assert [row["kind"] for row in found] == ["gc-log"]
    assert found[0]["records"] == len(one.events)
    assert found[0]["problems"] == f"{len(one.events)} collections have no time of day: log with -Xlog:gc*:file=...:time"


PROGRAM = """
public class Garbage {
    public static void main(String[] words) {
        java.util.List<byte[]> kept = new java.util.ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            byte[] some = new byte[200_000];
            if (i % 20 == 0) kept.add(some);
        }
        System.gc();
        System.out.println(kept.size());
    }
}
"""


@pytest.mark.parametrize("decorations", ["none", "time,uptime", "uptimenanos,level"])
def test_a_jvm_of_this_machine(binary: str, tmp_path: Path, decorations: str) -> None:
    java = shutil.which("java")
    if java is None or shutil.which("javac") is None:
        pytest.skip("no JDK here")
    (tmp_path / "Garbage.java").write_text(PROGRAM, encoding="ascii")
    log = next(SERIAL.glob("app-*.zst"))
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(log, folder)
    subprocess.run(["javac", "-d", str(tmp_path), str(tmp_path / "Garbage.java")], check=True, timeout=120)
    for executor, collector in enumerate(("Serial", "Parallel", "G1", "Z", "Shenandoah")):
        target = folder / f"{log.name.split('.')[0]}-{executor}.gc"
        command = [java, "-Xmx128m", f"-XX:+Use{collector}GC", f"-Xlog:gc*:file={target}:{decorations}", "-cp", str(tmp_path), "Garbage"]
        subprocess.run(command, check=collector != "Shenandoah", timeout=120, capture_output=True, env={**os.environ, "JAVA_TOOL_OPTIONS": ""})
    found = query(binary, folder, "SELECT executor, rows AS records FROM artefacts WHERE kind = 'gc-log'")
    sums = query(binary, folder, SUMS) if decorations != "none" else {}
    assert len(found) >= 4
    for executor, (records,) in found.items():
        text = next(folder.glob(f"*-{executor}.gc")).read_text(encoding="utf-8")
        expected = read_unified(text)
        assert records == expected[0] + expected[2] > 0
        assert sums.get(executor, expected) == expected


def test_folders_of_samples(binary: str) -> None:
    """Logs that other viewers are tested with, where a person has them: none is kept here."""
    samples = os.environ.get("PYROMETER_GC_SAMPLES")
    if not samples:
        pytest.skip("PYROMETER_GC_SAMPLES names no folder of logs")
    paths = sorted(path for path in Path(samples).iterdir() if path.suffix == ".txt" and re.search(r"1_[5678]_0", path.name))
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        expected = tuple(map(sum, zip(read_old(text), read_old_shenandoah(text))))
        run = run_command([binary, "profile", "--kind", "gc-log", str(path), "--format", "json"])
        assert run.exit == 0, run.explain()
        found = json.loads(run.out)
        assert sum(one["records"] for one in found["files"]) == expected[0] + expected[2], path.name
        if found["files"][0]["problems"] is None:
            assert sum(one["gc_pauses"] for one in found["processes"]) == expected[0], path.name
            assert abs(sum(one["gc_pause_ms"] for one in found["processes"]) * 10**6 - expected[1]) < 10**4, path.name
