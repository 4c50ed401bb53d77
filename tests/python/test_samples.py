"""What the profilers for PySpark record, merge and write. None of these tests starts Spark."""

from __future__ import annotations

import ast
import json
import pickle
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Dict, Iterator, List, Optional

import pytest
from conftest import ROOT
from servers import Unavailable, spark

PACKAGE = ROOT / "python" / "pyrometer"
sys.path.insert(0, str(PACKAGE.parent))

from make_zip import make_zip  # noqa: E402
from pyrometer import usage  # noqa: E402
from pyrometer.profile import OTHER_STACKS, Limits, Owner, Point, Profile, Row, task_limits  # noqa: E402
from pyrometer.recording import MAX_DEPTH, Options, Recording, samples_due, stack_of, this_process  # noqa: E402

OWNER = Owner(3, 7, 100, "host")


def added(profile: Profile, name: str, time_ms: int, owner: Owner = OWNER, count: int = 1, cpu_us: int = 10) -> None:
    profile.add_stack((f"{name}.py:f:1", "main.py:main:2"), owner, Row(count, time_ms, time_ms, cpu_us))


def totals(profile: Profile) -> Dict[str, int]:
    counted: Dict[str, int] = {}
    for record in profile.stack_records(1):
        counted[record["stacktrace"][0]] = counted.get(record["stacktrace"][0], 0) + record["count"]
    return counted


# ---- stacks -----------------------------------------------------------------------------------------------------


def test_equal_stacks_of_a_window_are_one_record() -> None:
    profile = Profile(task_limits(), 100)
    for time_ms, count in ((50_000, 1), (50_100, 1), (59_900, 3), (60_000, 1)):
        added(profile, "a", time_ms, count=count)
    assert profile.stack_records(8) == [
        {
            "stacktrace": ["a.py:f:1", "main.py:main:2"], "count": 5, "i_d": "8_id", "epochMillis": 50_000,
            "lastEpochMillis": 59_900, "intervalMillis": 100, "cpuMillis": 0, "stageId": 3, "taskAttemptId": 7, "pid": 100,
            "host": "host",
        },
        {
            "stacktrace": ["a.py:f:1", "main.py:main:2"], "count": 1, "i_d": "8_id", "epochMillis": 60_000,
            "lastEpochMillis": 60_000, "intervalMillis": 100, "cpuMillis": 0, "stageId": 3, "taskAttemptId": 7, "pid": 100,
            "host": "host",
        },
    ]  # fmt: skip


def test_the_most_frequent_stack_comes_first_and_functions_of_columns_have_their_own_name() -> None:
    profile = Profile(task_limits(), 100, udf=True)
    added(profile, "rare", 1)
    added(profile, "usual", 2, count=2)
    records = profile.stack_records(8)
    assert [record["stacktrace"][0] for record in records] == ["usual.py:f:1", "rare.py:f:1"]
    assert {record["i_d"] for record in records} == {"udf_8_id"}


def test_a_profile_that_becomes_too_large_keeps_its_sums() -> None:
    limits = Limits(max_stacks=20, max_rows=84, max_points=10)
    profile, chance = Profile(limits, 100), random.Random(5)
    expected: Dict[str, int] = {}
    for at in range(20_000):
        name = f"m{chance.randrange(15)}"
        added(profile, name, at * 100, Owner(at // 5_000, at // 50, at // 500, "host"))
        expected[f"{name}.py:f:1"] = expected.get(f"{name}.py:f:1", 0) + 1
        assert len(profile.rows) <= limits.max_rows
    assert totals(profile) == expected
    records = profile.stack_records(1)
    assert sum(record["cpuMillis"] for record in records) == pytest.approx(200, abs=len(records))
    assert min(record["epochMillis"] for record in records) == 0
    assert max(record["lastEpochMillis"] for record in records) == 1_999_900
    assert not any("taskAttemptId" in record for record in records)  # 400 tasks: more than there are rows


def test_time_is_given_up_before_tasks_are() -> None:
    profile = Profile(Limits(max_stacks=4, max_rows=20, max_points=10), 100)
    for window in range(100):
        for task in (1, 2):
            added(profile, "a", window * 10_000, Owner(0, task, 100, "host"))
    records = profile.stack_records(1)
    assert {record["taskAttemptId"]: 0 for record in records} == {1: 0, 2: 0}
    assert sum(record["count"] for record in records) == 200


def test_stacks_beyond_the_limit_are_counted_together() -> None:
    profile = Profile(Limits(max_stacks=3, max_rows=16, max_points=10), 100)
    for at in range(10):
        added(profile, f"m{at}", 0)
    assert len(profile.stacks) == 4
    assert totals(profile)[OTHER_STACKS[0]] == 7


def test_profiles_of_tasks_are_merged() -> None:
    whole = Profile(Limits(100, 1_000, 1_000), 100)
    for task in range(5):
        one = Profile(task_limits(), 20, udf=True)
        added(one, "same", 1_000, Owner(1, task, 100 + task % 2, "host"))
        added(one, f"own{task}", 1_000, Owner(1, task, 100 + task % 2, "host"))
        one.add_point(Point(1_000 + task, 1, 1, 1, 50.0, 1, Owner(1, task, 100 + task % 2, "host")))
        whole.merge(pickle.loads(pickle.dumps(one)))
    assert totals(whole)["same.py:f:1"] == 5
    assert len(totals(whole)) == 6
    assert whole.udf
    assert whole.interval_ms == 20
    assert {pid: len(records) for pid, records in whole.point_records()} == {100: 3, 101: 2}


# ---- points -----------------------------------------------------------------------------------------------------


def points_of(profile: Profile) -> List[Dict[str, Any]]:
    return [record for _, records in profile.point_records() for record in records]


def test_a_point_has_the_members_of_other_tools_and_its_task() -> None:
    profile = Profile(task_limits(), 100)
    profile.add_point(Point(5, 10, 20, 30, 99.96, 1, OWNER))
    ((pid, records),) = profile.point_records()
    assert pid == 100
    assert list(records[0].items()) == [
        ("pid", 100), ("epochMillis", 5), ("pmem_rss", 10), ("pmem_vms", 20), ("pmem_pfaults", 30), ("cpu_percent", 100.0),
        ("stageId", 3), ("taskAttemptId", 7), ("host", "host"),
    ]  # fmt: skip


def test_points_are_thinned_evenly_and_keep_peaks_and_means() -> None:
    profile = Profile(task_limits(max_points=64), 100)
    for at in range(5_000):
        peak = 1_000_000 if at == 777 else 100
        profile.add_point(Point(at * 100, peak, 1, at, float(at % 10), 1, OWNER))
    ((_, points),) = profile.points.items()
    assert 32 <= len(points) <= 64
    assert len({point.readings for point in points[:-1]}) == 1  # old points are as close to each other as new ones
    assert sum(point.readings for point in points) == 5_000
    assert max(point.rss or 0 for point in points) == 1_000_000
    assert sum(point.cpu_percent * point.readings for point in points) / 5_000 == pytest.approx(4.5)
    times = [record["epochMillis"] for record in points_of(profile)]
    assert times == sorted(times)
    assert times[-1] == 499_900


def test_points_of_more_tasks_than_fit_lose_their_task() -> None:
    profile = Profile(Limits(4, 20, 16), 100)
    for task in range(100):
        profile.add_point(Point(task, 1, 1, 1, 1.0, 1, Owner(2, task, 100, "host")))
    records = points_of(profile)
    assert len(records) <= 16
    assert {record["stageId"] for record in records} == {2}
    assert not any("taskAttemptId" in record for record in records[:-8])


def test_processes_beyond_the_limit_are_counted() -> None:
    profile = Profile(Limits(4, 20, 16), 100)
    for pid in range(50):
        profile.add_point(Point(pid, 1, 1, 1, 1.0, 1, Owner(2, pid, pid, "host")))
    assert len(points_of(profile)) + profile.refused == 50
    assert len(profile.points) <= 16


def test_equal_process_ids_of_two_hosts_are_one_file_with_their_hosts() -> None:
    profile = Profile(task_limits(), 100)
    profile.add_point(Point(2, 1, 1, 1, 1.0, 1, Owner(0, 1, 5, "b")))
    profile.add_point(Point(1, 1, 1, 1, 1.0, 1, Owner(0, 0, 5, "a")))
    ((_, records),) = profile.point_records()
    assert [record["host"] for record in records] == ["a", "b"]


# ---- memory and processor ---------------------------------------------------------------------------------------


def test_memory_grows_with_what_is_allocated() -> None:
    before = usage.memory()
    block = bytearray(b"x" * (64 << 20))
    after = usage.memory()
    assert before.rss is not None and after.rss is not None and after.vms is not None
    assert after.rss - before.rss > (48 << 20)
    assert after.vms > after.rss
    assert (after.page_faults or 0) > (before.page_faults or 0)
    del block


def test_psutil_is_asked_where_there_is_no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "STATM", "/nonexistent/statm")
    fake = ModuleType("psutil")
    fake.Process = lambda: SimpleNamespace(  # type: ignore[attr-defined]
        memory_info=lambda: SimpleNamespace(rss=1, vms=2, pfaults=3)
    )
    monkeypatch.setitem(sys.modules, "psutil", fake)
    assert usage.memory() == (1, 2, 3)


def test_memory_is_unknown_without_proc_and_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "STATM", "/nonexistent/statm")
    monkeypatch.setitem(sys.modules, "psutil", None)  # its import fails
    rss, vms, faults = usage.memory()
    assert (rss, vms) == (None, None)
    assert faults


# ---- recordings -------------------------------------------------------------------------------------------------


def spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(200))


class Marked:
    """What a recording looks for on stacks."""

    def profile(self, function: Any, *arguments: Any) -> Any:
        return function(*arguments)


def started(interval_ms: int, usage: bool = True, mark: Optional[Marked] = None) -> Recording:
    options = Options(stacks=True, usage=usage, interval_ms=interval_ms)
    return Recording(options, this_process(1, 2), Marked.profile.__code__, mark)


def wait_until(condition: Any) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_recording_counts_the_function_that_runs() -> None:
    mark = Marked()
    recording = started(5, mark=mark)
    mark.profile(spin, 0.5)
    profile = pickle.loads(pickle.dumps(recording))
    assert isinstance(profile, Profile)
    counted = [(record["stacktrace"], record["count"]) for record in profile.stack_records(0)]
    hot = sum(count for frames, count in counted if ":spin:" in frames[0])
    assert hot > 0.8 * sum(count for _, count in counted) > 0
    frames = counted[0][0]
    assert [frame.split(":")[1] for frame in frames[:3]] == ["spin", "profile", "test_a_recording_counts_the_function_that_runs"]
    assert points_of(profile)
    assert {record["taskAttemptId"] for record in points_of(profile)} == {2}


def test_nothing_is_counted_outside_of_profiled_functions() -> None:
    recording = started(2, mark=Marked())
    Marked().profile(spin, 0.1)  # another one's
    wait_until(lambda: recording._profile.points)
    assert recording.stop().rows == {}


def test_functions_of_other_threads_are_counted() -> None:
    mark = Marked()
    recording = started(5, mark=mark)
    thread = threading.Thread(target=mark.profile, args=(time.sleep, 0.2))
    thread.start()
    thread.join()
    (record,) = recording.stop().stack_records(0)[:1]
    assert record["stacktrace"][0].split(":")[1] == "profile"
    assert "cpuMillis" not in record  # only that of the main thread is known


def test_a_task_shorter_than_the_interval_has_a_point() -> None:
    recording = started(3_600_000)
    assert len(points_of(recording.stop())) == 1
    assert len(points_of(recording.stop())) == 1


def test_the_thread_ends_with_its_recording() -> None:
    def sampling() -> int:
        return sum(thread.name == "pyrometer-profiler" for thread in threading.enumerate())

    wait_until(lambda: sampling() == 0)  # those of other tests
    recording = started(2, usage=False)
    assert sampling() == 1
    recording.stop()
    wait_until(lambda: sampling() == 0)


@pytest.mark.parametrize(("now", "expected"), [(9.99, 1), (10.01, 1), (10.99, 1), (11.01, 2), (13.5, 4)])
def test_a_late_sample_counts_for_all_that_were_due(now: float, expected: int) -> None:
    assert samples_due(10.0, now, 1.0) == expected


def test_a_stack_has_a_largest_depth() -> None:
    def deep(levels: int) -> Any:
        return stack_of(sys._getframe(), {}) if levels == 0 else deep(levels - 1)

    assert len(deep(3)) < 100
    frames = deep(MAX_DEPTH + 50)
    assert len(frames) == MAX_DEPTH + 1
    assert frames[-1] == "pyrometer:deeper_stack:0"


# ---- the profilers that Spark is given --------------------------------------------------------------------------


class Context:
    """What a profiler uses of a SparkContext."""

    def __init__(self, settings: Optional[Dict[str, str]] = None) -> None:
        self.settings = settings or {}

    def getConf(self) -> Dict[str, str]:
        return self.settings

    def accumulator(self, value: Any, param: Any) -> Any:
        from pyspark.accumulators import Accumulator

        return Accumulator(len(sys.modules), value, param)


@pytest.fixture(scope="module")
def profilers() -> Iterator[Any]:
    try:
        packages = str(spark.home().parent)
    except Unavailable as reason:
        pytest.skip(str(reason))
    sys.path.append(packages)
    try:
        from pyrometer import profilers as module

        yield module
    finally:
        sys.path.remove(packages)


FAST = {"spark.pyrometer.python.profile.intervalMs": "5"}


def in_a_task(profiler: Any, function: Any, *arguments: Any) -> Any:
    """A profiler as a task has it, after the function was called."""
    copy = pickle.loads(pickle.dumps(profiler))
    assert copy.profile(function, *arguments) is None
    return copy


def test_what_tasks_recorded_reaches_the_driver(profilers: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pyspark.accumulators import _accumulatorRegistry

    profiler = profilers.CpuMemStackProfiler(Context(FAST))
    accumulator = profiler._accumulator
    for _ in range(2):
        _accumulatorRegistry.clear()  # as a worker does
        task = in_a_task(profiler, spin, 0.2)
        task.profile(spin, 0.05)
        accumulator += pickle.loads(pickle.dumps(task._accumulator._value))
    profiler.dump(12, str(tmp_path / "new" / "folder"))
    files = {path.name: path.read_text() for path in (tmp_path / "new" / "folder").iterdir()}
    pid = this_process().pid
    assert set(files) == {"udf_12_stack.json", f"udf_12_{pid}_cpumem.json"}
    records = [json.loads(line) for line in files["udf_12_stack.json"].splitlines()]
    hot = sum(record["count"] for record in records if ":spin:" in record["stacktrace"][0])
    assert hot > 0.8 * sum(record["count"] for record in records)
    assert files["udf_12_stack.json"].startswith('{"stacktrace":["')
    assert files[f"udf_12_{pid}_cpumem.json"].startswith(f'{{"pid": {pid}, "epochMillis": ')
    profiler.show(12)
    assert sorted(capsys.readouterr().out.splitlines()) == sorted("".join(files.values()).splitlines())
    assert profiler.stats()["refused"] == 0


def test_a_profiled_function_returns_and_raises_as_without(profilers: Any) -> None:
    profiler = profilers.StackProfiler(Context())
    assert profiler.profile(lambda a, b=0: a + b, 2, b=3) == 5
    recording = profiler._recording
    with pytest.raises(ZeroDivisionError):
        profiler.profile(lambda: 1 // 0)
    assert profiler._recording is recording  # one for all calls of a task
    recording.stop()


def test_profilers_without_samples_write_nothing(profilers: Any, tmp_path: Path) -> None:
    profilers.CpuMemStackProfiler(Context()).dump(1, str(tmp_path / "folder"))
    assert list((tmp_path / "folder").iterdir()) == []


def test_each_name_has_its_profiler(profilers: Any) -> None:
    found = {name: (cls.stacks, cls.usage) for name, cls in profilers.PROFILERS.items()}
    assert found == {"stack": (True, False), "cpumem": (False, True), "cpumemstack": (True, True)}


@pytest.mark.parametrize("value", ["0", "-5", "fast", ""])
def test_a_wrong_setting_is_named(profilers: Any, value: str) -> None:
    with pytest.raises(ValueError, match=r"spark\.pyrometer\.python\.profile\.maxStacks is"):
        profilers.StackProfiler(Context({"spark.pyrometer.python.profile.maxStacks": value}))


# ---- the package ------------------------------------------------------------------------------------------------


def test_the_archive_is_the_package(tmp_path: Path) -> None:
    first, second = (make_zip(tmp_path / name).read_bytes() for name in ("one.zip", "two.zip"))
    assert first == second
    code = "import sys; sys.path.insert(0, sys.argv[1]); import pyrometer.profile, pyrometer.recording as r; print(r.__file__)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(tmp_path / "one.zip")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(tmp_path / "one.zip" / "pyrometer" / "recording.py")


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_the_package_is_python_3_8(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_the_package_needs_nothing_that_it_does_not_say() -> None:
    if not hasattr(sys, "stdlib_module_names"):
        pytest.skip("Python 3.9 does not list its modules")
    imported = {
        (node.module or "").split(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name.split(".")[0]
        for path in PACKAGE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert imported - set(sys.stdlib_module_names) == {"pyrometer", "pyspark", "psutil"}
