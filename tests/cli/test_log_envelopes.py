"""logs: what tools write around each line of a log, progress bars, and crashes without a header.

The same log in every form must give the same errors and the same timeline as without one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Callable

import pytest

from test_logs import DRIVER, document

from cli_command import Command, pyrometer  # noqa: F401 (a fixture)

MINUTE = "10:15:02"  # what wrapped() replaces by the time of the line


def docker(line: str) -> str:
    """What Docker's json-file driver writes: parts of 16 KiB, of which the last one ends the line."""
    parts = [line[at : at + 16384] for at in range(0, len(line), 16384)] or [""]
    ends = [""] * (len(parts) - 1) + ["\n"]
    row = {"stream": "stderr", "time": f"2024-03-01T{MINUTE}.000456789Z"}
    return "\n".join(json.dumps({"log": part + end, **row}) for part, end in zip(parts, ends))


def fluent_bit(line: str) -> str:
    pod = {"pod_name": "etl-7-driver", "host": "node-7", "labels": {"a": ["b", {"c": None}]}}
    return json.dumps({"date": 1709288102.5, "log": line, "kubernetes": pod})


# Each form, with the containers that its errors then have.
FORMS: dict[str, tuple[Callable[[str], str], list[str]]] = {
    "docker": (docker, []),
    "fluent-bit": (fluent_bit, ["etl-7-driver"]),
    "journald-json": (lambda line: json.dumps({"_HOSTNAME": "n", "MESSAGE": line, "__REALTIME_TIMESTAMP": "1"}), []),
    "google": (lambda line: json.dumps({"timestamp": f"2024-03-01T{MINUTE}Z", "textPayload": line}), []),
    "compose": (lambda line: f"spark-master-1  | {line}", ["spark-master-1"]),
    "kubectl-timestamps": (lambda line: f"2024-03-01T{MINUTE}.000456789Z {line}", []),
    "kubectl-prefix": (lambda line: f"[pod/etl-7-driver/spark-kubernetes-driver] {line}", ["etl-7-driver"]),
    "stern": (lambda line: f"etl-7-driver spark-kubernetes-driver {line}", ["etl-7-driver"]),
    "journald": (lambda line: f"Mar 01 {MINUTE} node-7 spark-submit[4711]: {line}", []),
    "journald-iso": (lambda line: f"2024-03-01T{MINUTE}+0000 node-7 spark-submit[4711]: {line}", []),
    "airflow": (lambda line: f"[2024-03-01T{MINUTE}.000+0000] {{spark_submit.py:573}} INFO - {line}", []),
    "airflow-2.2": (lambda line: f"[2024-03-01, {MINUTE} UTC] {{spark_submit.py:573}} INFO - {line}", []),
    "livy": (lambda line: f"24/03/01 {MINUTE} INFO LineBufferedStream: {line}", []),
    "in-two": (lambda line: f"2024-03-01T{MINUTE}.0Z [a/b] {{x}} {line}", []),
}


def wrapped(form: str, text: str) -> str:
    wrap, _ = FORMS[form]
    time, lines = MINUTE, []
    for line in text.splitlines():
        header = re.match(r"24/03/01 ([0-9:]{8}) ", line)
        time = header[1] if header else time
        lines.append(wrap(line.replace(time, "TIME")).replace(MINUTE, time).replace("TIME", time) + "\n")
    return "".join(lines)


def facts(made: Any) -> list[Any]:
    """What does not depend on the form."""
    keys = ("time_ms", "count", "text", "logger", "cause", "classes", "root", "message", "frames", "tasks", "stages", "executors")
    return [{key: error[key] for key in keys if key in error} for error in made["errors"]]


@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_same_errors_in_every_form(pyrometer: Command, form: str) -> None:
    plain, other = pyrometer.folder / "plain" / "stderr", pyrometer.folder / "other" / "stderr"
    for path, text in ((plain, DRIVER), (other, wrapped(form, DRIVER))):
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    expected, made = document(pyrometer, "errors", plain), document(pyrometer, "errors", other)
    assert len(expected["errors"]) == 3 and made["records"] == expected["records"]
    containers = FORMS[form][1]
    assert facts(made) == facts(expected)
    assert all(error["containers"] == (containers or ["other"]) for error in made["errors"])
    times = [(job["id"], job["start_ms"], job["end_ms"]) for job in document(pyrometer, "timeline", plain)["jobs"]]
    assert [(job["id"], job["start_ms"], job["end_ms"]) for job in document(pyrometer, "timeline", other)["jobs"]] == times


def test_long_lines_that_docker_cuts(pyrometer: Command) -> None:
    line = f"24/03/01 {MINUTE} ERROR Executor: " + "x" * 40000 + " end"
    (pyrometer.folder / "stderr").write_text(wrapped("docker", f"{DRIVER}{line}\n"), encoding="utf-8")
    texts = [error["text"] for error in document(pyrometer, "errors", "stderr")["errors"]]
    assert any(text.startswith(line[:1000]) and len(text) > 32000 for text in texts)


def test_lines_of_two_containers_alternate(pyrometer: Command) -> None:
    error = "24/03/01 10:15:0{} ERROR Executor: {}\njava.lang.Error: {}\n\tat a.B.c(B.scala:1)\n"
    lines = [
        f"{name:<14} | {line}"
        for second in (1, 2)
        for name in ("spark-worker-1", "spark-2")
        for line in error.format(second, name, name).splitlines()
    ]
    (pyrometer.folder / "compose.log").write_text("\n".join(lines), encoding="utf-8")
    made = document(pyrometer, "errors", "compose.log")
    assert {(error["root"]["message"], tuple(error["containers"]), error["count"]) for error in made["errors"]} == {
        ("spark-worker-1", ("spark-worker-1",), 2),
        ("spark-2", ("spark-2",), 2),
    }


def test_lines_of_the_tool_itself_keep_their_header(pyrometer: Command) -> None:
    own = f"[2024-03-01T{MINUTE}.000+0000] {{taskinstance.py:1400}} ERROR - Task failed with exception\n"
    text = own.replace("ERROR", "INFO") * 5 + wrapped("airflow", DRIVER) + own
    (pyrometer.folder / "attempt=1.log").write_text(text, encoding="utf-8")
    made = document(pyrometer, "errors", "attempt=1.log")
    assert len(made["errors"]) == 4
    assert any("Task failed with exception" in error["text"] for error in made["errors"])


def test_a_message_that_quotes_a_line_is_no_prefix(pyrometer: Command) -> None:
    quote = f"24/03/01 {MINUTE} ERROR Reader: cannot parse '24/03/01 {MINUTE} INFO Other: x'\n"
    (pyrometer.folder / "stderr").write_text(DRIVER + quote, encoding="utf-8")
    texts = [error["text"] for error in document(pyrometer, "errors", "stderr")["errors"]]
    assert quote.strip() in texts and len(texts) == 4


def test_progress_bars_share_lines_with_records(pyrometer: Command) -> None:
    bar = "[Stage 0:>" + " " * 58 + "(0 + 2) / 2]"
    text = DRIVER.replace("24/03/01 10:15:06 ERROR", f"{bar}\r{' ' * 80}\r24/03/01 10:15:06 ERROR")
    text = text.replace("\tat com.acme.Load.parse(Load.scala:12)", f"\tat com.acme.Load.parse(Load.scala:12)\r{bar}")
    for name, content in (("plain", DRIVER), ("bars", text)):
        (pyrometer.folder / name).mkdir()
        (pyrometer.folder / name / "stderr").write_text(content, encoding="utf-8", newline="")
    plain, bars = (document(pyrometer, "errors", f"{name}/stderr") for name in ("plain", "bars"))
    assert facts(bars) == facts(plain) and bars["records"] == plain["records"]


CRASHES = {
    "jvm": "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  SIGSEGV (0xb) at pc=0x7f, pid=17\n#\n",
    "no-memory": "# There is insufficient memory for the Java Runtime Environment to continue.\n# Native memory allocation failed\n",
    "heap": "java.lang.OutOfMemoryError: Java heap space\nDumping heap to java_pid17.hprof ...\n"
    "#\n# java.lang.OutOfMemoryError: Java heap space\n# -XX:OnOutOfMemoryError=\"kill -9 %p\"\n",
    "exit-on-memory": "Terminating due to java.lang.OutOfMemoryError: Java heap space\n",
    "c++": "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
    "glibc": "double free or corruption (!prev)\n",
    "python": "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n",
}


@pytest.mark.parametrize("kind", sorted(CRASHES))
def test_crashes_begin_their_own_records(pyrometer: Command, kind: str) -> None:
    before = f"24/03/01 {MINUTE} INFO Executor: Running task 0.0 in stage 0.0 (TID 0)\n"
    after = f"24/03/01 {MINUTE} INFO Executor: next\n"
    (pyrometer.folder / "stderr").write_text(before + CRASHES[kind] + after, encoding="utf-8")
    (error,) = document(pyrometer, "errors", "stderr")["errors"]
    assert error["level"] == "FATAL"
    assert CRASHES[kind].removeprefix("#\n").splitlines()[0] in error["text"] and "next" not in error["text"]


def test_memory_errors_that_were_logged_are_one_record(pyrometer: Command) -> None:
    text = f"24/03/01 {MINUTE} ERROR Executor: Exception in task 0.0 in stage 0.0 (TID 0)\njava.lang.OutOfMemoryError: Java heap space\n"
    (pyrometer.folder / "stderr").write_text(text, encoding="utf-8")
    (error,) = document(pyrometer, "errors", "stderr")["errors"]
    assert (error["level"], error["classes"]) == ("ERROR", ["java.lang.OutOfMemoryError"])


def test_a_log_of_an_unknown_form_says_so(pyrometer: Command) -> None:
    (pyrometer.folder / "stderr").write_text("Mon 10h15 [E] something failed\nMon 10h16 [I] fine\n", encoding="utf-8")
    made = document(pyrometer, "errors", "stderr")
    assert made["errors"] == [] and any("--pattern" in note["text"] for note in made["notes"])


def azure_row(executor: str, second: int, level: str, message: str, **more: Any) -> str:
    """A record of the diagnostic emitter of Azure Synapse and Microsoft Fabric."""
    inner = {"timestamp": f"2026-03-04T05:06:{second:02}.100Z", "message": message, "logger_name": "org.apache.spark.executor.Executor",
             "level": level, "thread_name": "Executor task launch worker", **more}
    return json.dumps({"timestamp": inner["timestamp"], "category": "Log", "applicationId": "application_1772600000000_0001",
                       "executorId": executor, "properties": inner})


def test_records_of_several_processes_in_one_stream(pyrometer: Command) -> None:
    stack = "com.example.LateException: 3\n\tat com.example.Job.run(Job.scala:9)"
    rows = [azure_row("1", 1, "INFO", "Running task 0.0 in stage 0.0 (TID 0)"), azure_row("2", 1, "INFO", "Running task 1.0 in stage 0.0 (TID 1)"),
            azure_row("1", 4, "ERROR", "Exception in task 0.0 in stage 0.0 (TID 0)", exception={"exception_class": "com.example.LateException", "stacktrace": stack}),
            azure_row("2", 5, "ERROR", "quota of \"a\" is used\nup", source_host="vm-7", **{"class": "com.example.Quota", "method": "take"})]
    path = pyrometer.folder / "records.json"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    late, quota = sorted(document(pyrometer, "errors", path)["errors"], key=lambda one: str(one["time_ms"]))
    assert (late["classes"], late["containers"], late["executors"]) == (["com.example.LateException"], ["application_1772600000000_0001/1"], ["1"])
    assert late["frames"] == ["com.example.Job.run(Job.scala:9)"] and late["logger"] == "org.apache.spark.executor.Executor"
    assert (quota["classes"], quota["containers"]) == ([], ["application_1772600000000_0001/2"])
    assert quota["text"].endswith('Executor: quota of "a" is used\nup')
    (application,) = document(pyrometer, "timeline", path)["applications"]
    assert application["id"] == "application_1772600000000_0001"


def test_records_that_are_cut_or_damaged(pyrometer: Command) -> None:
    rows = [azure_row("1", second, "INFO", f"step {second}") for second in range(6)]
    path = pyrometer.folder / "driver.log"
    for text, records in (
        ('{"records":[' + ",".join(rows) + "]}", 6),
        ('{"records":[' + ",".join(rows)[:-20], 5),
        ("\n".join(rows)[:-20], 5),
        ("\n".join([*rows[:3], "{}", '{"records":[]}', "[]", "[", "]", *rows[3:]]), 6),
        ('{"records":[' + ",".join([rows[0]] * 2 + ["7", "null", '"a"', "[]"] + rows[2:]) + "]}", 6),
    ):
        path.write_text(text, encoding="utf-8")
        assert document(pyrometer, "top", path)["records"] == records, text[:80]
