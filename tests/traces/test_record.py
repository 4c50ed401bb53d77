"""`trace record`: real jobs, recorded with what this machine allows."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple

import pytest
import schemas
from conftest import default_signals
from servers import plugin, shared, spark

JOB = Path(__file__).parent / "jobs" / "naps.py"
LIMIT_S = 300
PLUGIN_CLASS = "io.pyrometer.spark.PyrometerPlugin"


class Recorded(NamedTuple):
    folder: Path
    status: int
    out: str
    err: str

    @property
    def document(self) -> Dict[str, Any]:
        document: Dict[str, Any] = schemas.validate(json.loads((self.folder / "recording.json").read_text(encoding="utf-8")))
        return document

    def refused(self) -> Dict[str, str]:
        return {row["what"]: row["why"] for row in self.document["refused"]}


def environment(extra: Mapping[str, str] = {}) -> Dict[str, str]:
    own = {key: value for key, value in os.environ.items() if key not in ("PYROMETER_PLUGIN", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")}
    return {**own, **extra}


def record(binary: str, folder: Path, options: List[str], command: List[str], extra: Mapping[str, str] = {}) -> Recorded:
    words = [binary, "trace", "record", "-o", str(folder), *options, "--", *command]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=LIMIT_S, env=environment(extra))
    return Recorded(folder, done.returncode, done.stdout, done.stderr)


def python_job(tasks: int, seconds: float, status: int) -> List[str]:
    return [str(shared.or_skip(spark.venv) / "bin" / "python"), str(JOB), str(tasks), str(seconds), str(status)]


def spark_environment() -> Dict[str, str]:
    variables: Dict[str, str] = spark.spark_runs.spark_env(shared.or_skip(spark.venv))
    return variables


def need_kernel(recorded: Recorded) -> None:
    """The test is skipped for the reason that the kernel's trace was refused for."""
    if "kernel" in recorded.refused():
        pytest.skip(recorded.refused()["kernel"])


def kernel_events(recorded: Recorded) -> List[str]:
    """Lines of the kernel's traces, as another reader shows them."""
    reader = shutil.which("babeltrace2")
    if reader is None:
        pytest.skip("babeltrace2 is not installed")
    lines: List[str] = []
    for trace in recorded.document["kernel_traces"]:
        shown = subprocess.run([reader, "--clock-cycles", str(recorded.folder / trace)], check=False, capture_output=True, text=True, timeout=LIMIT_S)
        assert shown.returncode == 0, shown.stderr[-2000:]
        lines += shown.stdout.splitlines()
    return lines


def tasks_of(folder: Path) -> List[Dict[str, Any]]:
    rows = [json.loads(line) for path in (folder / "tasks").iterdir() for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if "task" in row]


# ---- Whole jobs


@pytest.fixture(scope="module")
def whole(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    jar = shared.or_skip(plugin.jar)
    folder = tmp_path_factory.mktemp("record") / "a run"
    return record(binary, folder, ["--plugin", str(jar)], python_job(4, 0.3, 7), spark_environment())


@pytest.mark.slow
def test_exit_status_is_that_of_the_job(whole: Recorded) -> None:
    document = whole.document
    assert whole.status == 7, whole.err[-4000:]
    assert (document["state"], document["exit_status"], document["signal"]) == ("ended", 7, None)
    assert whole.out.startswith("ready")
    assert document["started_ms"] < document["ended_ms"]


@pytest.mark.slow
def test_event_log_and_records_of_tasks_are_there(whole: Recorded, binary: str) -> None:
    document = whole.document
    (log,) = (whole.folder / "eventlog").iterdir()
    counted = subprocess.run([binary, "sql", str(log), "SELECT count(*) FROM tasks", "--format", "csv"], check=True, capture_output=True, text=True)
    assert int(counted.stdout.split()[1]) == len(tasks_of(whole.folder)) == 4
    assert (document["task_files"], document["dropped"]["tasks"]) == (1, 0)
    assert document["bytes"]["eventlog"] >= log.stat().st_size > 0 and document["bytes"]["tasks"] > 0


@pytest.mark.slow
def test_kernel_trace_has_the_threads_of_the_tasks(whole: Recorded) -> None:
    need_kernel(whole)
    document, tasks = whole.document, tasks_of(whole.folder)
    lines = kernel_events(whole)
    assert document["kernel_traces"] == ["kernel"] and document["unconverted"] == [] and not (whole.folder / "perf.data").exists()
    seen = {name for line in lines for name in ("sched:sched_switch", "raw_syscalls:sys_enter") if name in line}
    assert len(seen) == 2
    for task in tasks:
        own = [line for line in lines if f"next_pid = {task['tid']}," in line]
        times = [int(line[1 : line.index("]")]) for line in own]
        assert any(task["start_ns"] <= moment <= task["end_ns"] for moment in times), "both have one clock"
    (window,) = document["windows"]
    first, last = (int(line[1 : line.index("]")]) for line in (lines[0], lines[-1]))
    assert window["from_ns"] - 1_000_000_000 < first <= last < window["to_ns"] + 1_000_000_000


@pytest.mark.slow
def test_tasks_of_lttng_have_their_threads(whole: Recorded) -> None:
    if "lttng" in whole.refused():
        pytest.skip(whole.refused()["lttng"])
    reader = shutil.which("babeltrace2")
    if reader is None:
        pytest.skip("babeltrace2 is not installed")
    shown = subprocess.run([reader, str(whole.folder / "ust")], check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout
    for task in tasks_of(whole.folder):
        (begin,) = [line for line in shown.splitlines() if f"begins task={task['task']} stage={task['stage']}.{task['attempt']} " in line]
        assert f"vtid = {task['tid']}," in begin and f"tid={task['tid']}\"" in begin
    assert whole.document["dropped"]["ust"] == 0


@pytest.mark.slow
def test_messages_of_lttng_belong_to_tasks(whole: Recorded, binary: str) -> None:
    if "lttng" in whole.refused():
        pytest.skip(whole.refused()["lttng"])
    asked = ("SELECT m.task, t.text, t.level FROM messages m JOIN templates t ON t.id = m.template JOIN artefacts a"
             " ON a.id = m.artefact WHERE a.kind = 'ctf' AND t.text LIKE 'begins task=%'")
    shown = subprocess.run([binary, "sql", str(whole.folder), asked, "-f", "json"], check=True, capture_output=True, text=True)
    rows = json.loads(shown.stdout)
    assert {row["task"] for row in rows} == {task["task"] for task in tasks_of(whole.folder)}
    assert {row["level"] for row in rows} == {"INFO"}


@pytest.mark.slow
def test_ctrl_c_leaves_a_readable_recording(binary: str, tmp_path: Path) -> None:
    jar = shared.or_skip(plugin.jar)
    folder, printed = tmp_path / "run", tmp_path / "printed"
    words = [binary, "trace", "record", "-o", str(folder), "--plugin", str(jar), "--", *python_job(200, 1, 0)]
    with open(printed, "wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output, env=environment(spark_environment()), preexec_fn=default_signals)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (folder / "tasks").is_dir() or not any((folder / "tasks").iterdir()):
        time.sleep(0.1)
        assert process.poll() is None, printed.read_text()
    assert json.loads((folder / "recording.json").read_text(encoding="utf-8"))["state"] == "running"
    while time.monotonic() < deadline and not any('"status"' in path.read_text() for path in (folder / "tasks").iterdir()):
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    status = process.wait(timeout=LIMIT_S)
    recorded = Recorded(folder, status, "", printed.read_text(errors="replace"))
    assert status != 0 and recorded.document["state"] == "ended", recorded.err[-2000:]
    assert any((folder / "eventlog").iterdir()) and tasks_of(folder)
    need_kernel(recorded)
    assert any("sched_switch" in line for line in kernel_events(recorded))


@pytest.mark.slow
def test_slow_tasks_make_snapshots(binary: str, tmp_path: Path) -> None:
    jar = shared.or_skip(plugin.jar)
    recorded = record(binary, tmp_path / "run", ["--plugin", str(jar), "--slow", "1500"], python_job(2, 2.5, 0), spark_environment())
    if recorded.status == 3:
        pytest.skip(recorded.err)
    document = recorded.document
    tasks = {row["task"]: row for row in tasks_of(recorded.folder)}
    assert recorded.status == 0 and document["snapshots"], recorded.err
    for snapshot in document["snapshots"]:
        assert snapshot["duration_ns"] > 1_500_000_000
        row = tasks[snapshot["task"]]
        assert row["start_ns"] < snapshot["monotonic_ns"]
        assert snapshot["running"] == (snapshot["monotonic_ns"] < row["end_ns"])
    assert len(document["kernel_traces"]) == len(document["snapshots"]) + 1, "and what was kept at the end"
    assert document["kernel_traces"][0] == "kernel/001"
    assert kernel_events(recorded)


# ---- Other programs in the place of the job


def test_missing_perf_is_said(binary: str, tmp_path: Path) -> None:
    empty = {"PATH": str(tmp_path)}
    recorded = record(binary, tmp_path / "run", [], ["/bin/sh", "-c", "exit 5"], empty)
    assert recorded.status == 5
    assert "kernel: perf is not on PATH" in recorded.err and "tasks: the plugin was not found" in recorded.err
    assert recorded.document["mode_used"] == "user" and set(recorded.refused()) == {"tasks", "kernel"}
    asked = record(binary, tmp_path / "asked", ["--mode", "kernel"], ["/bin/sh", "-c", "touch " + shlex.quote(str(tmp_path / "ran"))], empty)
    assert asked.status == 3 and "the job was not started" in asked.err and not (tmp_path / "ran").exists()


def test_signals_end_the_job(binary: str, tmp_path: Path) -> None:
    recorded = record(binary, tmp_path / "run", ["--mode", "user"], ["/bin/sh", "-c", "kill -TERM $$"])
    assert (recorded.status, recorded.document["signal"], recorded.document["exit_status"]) == (143, 15, None)


def test_programs_that_do_not_exist(binary: str, tmp_path: Path) -> None:
    recorded = record(binary, tmp_path / "run", ["--mode", "user"], [str(tmp_path / "no such job")])
    assert recorded.status == 3 and "cannot start" in recorded.err


def test_kernel_alone(binary: str, tmp_path: Path) -> None:
    """A limit of size and a duty cycle, without Spark. Mounts of the machine stay as they are."""
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    recorded = record(binary, tmp_path / "run", ["--mode", "kernel", "--duty", "200ms/1s", "--max-size", "64M"], ["/bin/sh", "-c", "sleep 2.5"])
    if recorded.status == 3:
        pytest.skip(recorded.err)
    document = recorded.document
    assert recorded.status == 0 and document["mode_used"] == "kernel"
    assert (document["duty_on_ms"], document["duty_every_ms"], document["max_bytes"]) == (200, 1000, 64 << 20)
    windows = document["windows"]
    assert 2 <= len(windows) <= 4
    for before, after in zip(windows, windows[1:]):
        assert 300_000_000 < after["from_ns"] - before["to_ns"]
    for line in kernel_events(recorded)[:1000]:
        moment = int(line[1 : line.index("]")])
        assert any(window["from_ns"] - 50_000_000 <= moment <= window["to_ns"] + 50_000_000 for window in windows)
    small = record(binary, tmp_path / "small", ["--mode", "kernel", "--max-size", "1M"], ["/bin/sh", "-c", "for i in 1 2 3 4 5 6; do ls -lR /usr/lib > /dev/null; done; sleep 0.5"])
    assert Path("/proc/self/mounts").read_text(encoding="utf-8") == mounts
    assert small.status == 0 and small.document["limit_reached"] and "has reached --max-size" in small.err
    assert kernel_events(small)


def test_process_that_runs_already(binary: str, tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "2"]) as process:
        words = [binary, "trace", "record", "-o", str(tmp_path / "run"), "--attach", str(process.pid)]
        waiter = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment())
        process.wait()
        _, err = waiter.communicate(timeout=LIMIT_S)
    if waiter.returncode == 3:
        pytest.skip(err)
    recorded = Recorded(tmp_path / "run", waiter.returncode, "", err)
    assert recorded.status == 0 and recorded.document["attached"] == process.pid
    assert recorded.document["exit_status"] is None
    assert kernel_events(recorded)


# ---- What the job gets


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """A spark-submit that prints its words, and a JAR."""
    program = tmp_path / "spark-submit"
    program.write_text("#!/bin/sh\nfor word; do echo \"$word\"; done\n", encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "the plugin.jar").touch()
    return program


def settings(words: List[str]) -> Dict[str, str]:
    return dict(word.split("=", 1) for option, word in zip(words, words[1:]) if option in ("--conf", "-c"))


def test_settings_are_merged_with_those_of_the_command(binary: str, fake: Path, tmp_path: Path) -> None:
    given = ["--jars", "a.jar,b.jar", "-c", "spark.plugins=org.other.Plugin", "--verbose", "--master", "local[1]", "app.py", "--jars", "mine"]
    recorded = record(binary, tmp_path / "x y", ["--mode", "user", "--plugin", str(tmp_path / "the plugin.jar")], [str(fake), *given])
    words = recorded.out.splitlines()
    conf = settings(words)
    jar = (tmp_path / "the plugin.jar").as_uri()
    assert words[words.index("--jars") + 1] == f"a.jar,b.jar,{jar}"
    assert words[-3:] == ["app.py", "--jars", "mine"] and "spark.jars" not in conf
    assert conf["spark.plugins"] == f"org.other.Plugin,{PLUGIN_CLASS}"
    assert conf["spark.eventLog.enabled"] == "true" and conf["spark.eventLog.dir"] == (tmp_path / "x y" / "eventlog").as_uri()
    assert conf["spark.pyrometer.trace.dir"] == str(tmp_path / "x y" / "tasks")
    assert recorded.document["command"] == [str(fake), *given]


def test_settings_are_merged_with_sparks_defaults(binary: str, fake: Path, tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        f"# of all jobs\nspark.plugins   org.other.Plugin,{PLUGIN_CLASS}\nspark.jars=/opt/x.jar\nspark.eventLog.dir: hdfs:///logs\n", encoding="utf-8")
    options = ["--mode", "user", "--plugin", str(tmp_path / "the plugin.jar")]
    recorded = record(binary, tmp_path / "run", options, [str(fake), "app.py"], {"SPARK_CONF_DIR": str(tmp_path)})
    conf = settings(recorded.out.splitlines())
    assert conf["spark.plugins"] == f"org.other.Plugin,{PLUGIN_CLASS}"
    assert conf["spark.jars"] == f"/opt/x.jar,{(tmp_path / 'the plugin.jar').as_uri()}"
    assert "instead of hdfs:///logs" in recorded.err


def test_programs_in_python_get_a_variable(binary: str, fake: Path, tmp_path: Path) -> None:
    options = ["--mode", "user", "--plugin", str(tmp_path / "the plugin.jar")]
    show = ["/bin/sh", "-c", "printf '%s' \"$PYSPARK_SUBMIT_ARGS\""]
    plain = shlex.split(record(binary, tmp_path / "1", options, show).out)
    assert plain[-1] == "pyspark-shell" and settings(plain)["spark.plugins"] == PLUGIN_CLASS
    former = {"PYSPARK_SUBMIT_ARGS": "--master 'local[3]' --conf \"spark.x=it's a\" pyspark-shell"}
    words = shlex.split(record(binary, tmp_path / "2", options, show, former).out)
    assert words[-5:] == ["--master", "local[3]", "--conf", "spark.x=it's a", "pyspark-shell"]
    assert settings(words)["spark.eventLog.dir"] == (tmp_path / "2" / "eventlog").as_uri()


def test_secrets_of_the_command_are_not_kept(binary: str, fake: Path, tmp_path: Path) -> None:
    command = [str(fake), "--conf", "spark.ssl.keyPassword=hunter2", "app.py", "--db-password", "hunter3", "--x", "plain"]
    recorded = record(binary, tmp_path / "run", ["--mode", "user"], command)
    assert "hunter2" in recorded.out and "hunter" not in json.dumps(recorded.document)
    assert recorded.document["command"][-1] == "plain"


@pytest.mark.parametrize("words", [
    [], ["--slow", "0", "--", "x"], ["--slow", "5", "--duty", "1s/2s", "--", "x"], ["--duty", "2s/1s", "--", "x"], ["--duty", "1s", "--", "x"],
    ["--mode", "user", "--slow", "5", "--", "x"], ["--attach", "1", "--", "x"], ["--max-size", "much", "--", "x"], ["--attach", "none"],
])
def test_wrong_command_lines(binary: str, words: List[str], tmp_path: Path) -> None:
    run = subprocess.run([binary, "trace", "record", *words], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 2 and run.stderr.startswith("pyrometer trace: ") and not list(tmp_path.iterdir())


def test_a_recording_is_not_written_twice(binary: str, tmp_path: Path) -> None:
    assert record(binary, tmp_path / "run", ["--mode", "user"], ["/bin/true"]).status == 0
    again = record(binary, tmp_path / "run", ["--mode", "user"], ["/bin/true"])
    assert again.status == 4 and "has a recording" in again.err
    missing = record(binary, tmp_path / "other", ["--plugin", "/no/such.jar"], ["/bin/true"])
    assert missing.status == 3 and "cannot be read" in missing.err
