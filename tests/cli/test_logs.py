"""logs top|errors|timeline: inputs, filters, formats, limits and exit statuses, on small logs written here."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from log_layouts import cri
from test_verbs import validate

from cli_command import Command, log, pyrometer  # noqa: F401 (fixtures)

DRIVER = """\
24/03/01 10:15:00 INFO SparkContext: Running Spark version 3.5.6
24/03/01 10:15:00 INFO SparkContext: Submitted application: etl
24/03/01 10:15:01 INFO DAGScheduler: Got job 0 (collect at etl.py:3) with 2 output partitions
24/03/01 10:15:01 INFO TaskSetManager: Starting task 0.0 in stage 0.0 (TID 0) (10.0.0.1, executor 1, partition 0, ANY, 9000 bytes)
24/03/01 10:15:01 INFO TaskSetManager: Starting task 1.0 in stage 0.0 (TID 1) (10.0.0.1, executor 2, partition 1, ANY, 9000 bytes)
24/03/01 10:15:03 WARN TaskSetManager: Lost task 0.0 in stage 0.0 (TID 0) (10.0.0.1 executor 1): java.lang.IllegalStateException: row 17
\tat com.acme.Load.parse(Load.scala:12)
\tat java.base/java.lang.Thread.run(Thread.java:833)

24/03/01 10:15:03 INFO TaskSetManager: Starting task 0.1 in stage 0.0 (TID 2) (10.0.0.1, executor 2, partition 0, ANY, 9000 bytes)
24/03/01 10:15:04 INFO TaskSetManager: Finished task 1.0 in stage 0.0 (TID 1) in 3000 ms on 10.0.0.1 (executor 2) (1/2)
24/03/01 10:15:05 WARN TaskSetManager: Lost task 0.1 in stage 0.0 (TID 2) (10.0.0.1 executor 2): java.lang.IllegalStateException: row 4
\tat com.acme.Load.parse(Load.scala:14)
\tat java.base/java.lang.Thread.run(Thread.java:833)

24/03/01 10:15:06 ERROR YarnScheduler: Lost executor 2 on 10.0.0.1: Container killed by YARN for exceeding memory limits. 5.6 GB used
24/03/01 10:15:07 INFO DAGScheduler: Job 0 failed: collect at etl.py:3, took 6.1 s
Traceback (most recent call last):
  File "/app/etl.py", line 3, in <module>
ValueError: no rows
"""


def document(pyrometer: Command, *words: object) -> Any:
    """The JSON document of a call, which must succeed."""
    run = pyrometer("logs", *words, "-f", "json")
    assert run.returncode == 0, run.stderr
    made = json.loads(run.stdout)
    validate(made, made["schema"].split("/")[0].split(".", 1)[1])
    return made


@pytest.fixture
def driver(pyrometer: Command) -> Path:
    path = pyrometer.folder / "driver.log"
    path.write_text(DRIVER, encoding="utf-8")
    return path


def test_errors(pyrometer: Command, driver: Path) -> None:
    made = document(pyrometer, "errors", driver)
    assert (made["files"], made["kinds"], made["other"]) == (1, 3, 0)
    crash, lost, state = made["errors"]
    assert (crash["level"], crash["count"], crash["root"]) == (None, 1, {"class": "ValueError", "message": "no rows"})
    assert crash["time_ms"] == 1709288107000  # of the record before it
    assert crash["frames"] == ['etl.py", line 3, in <module>']
    assert (lost["cause"], lost["root"], lost["executors"]) == ("container-memory", None, ["2"])
    assert (state["count"], state["level"], state["cause"]) == (2, "WARN", None)
    assert (state["first_ms"], state["last_ms"]) == (1709288103000, 1709288105000)
    assert (state["tasks"], state["stages"], state["executors"]) == ([0, 2], [0], ["1", "2"])
    assert state["containers"] == ["driver.log"]
    assert state["frames"] == ["com.acme.Load.parse(Load.scala:14)"]
    assert state["text"].startswith("24/03/01 10:15:05 WARN") and state["text"].endswith("(Thread.java:833)")


def test_timeline(pyrometer: Command, driver: Path) -> None:
    made = document(pyrometer, "timeline", driver)
    start = 1709288100000
    (application,) = made["applications"]
    assert (application["name"], application["start_ms"], application["end_ms"]) == ("etl", start, start + 7000)
    (job,) = made["jobs"]
    assert (job["name"], job["partitions"], job["status"]) == ("collect at etl.py:3", 2, "failed")
    assert (job["start_ms"], job["end_ms"]) == (start + 1000, start + 7000)
    (stage,) = made["stages"]
    assert (stage["start_ms"], stage["end_ms"], stage["tasks"], stage["failed"]) == (start + 1000, start + 5000, 3, 2)
    rows = [(t["id"], t["executor"], t["start_ms"] - start, t["end_ms"] - start, t["status"]) for t in made["tasks"]]
    assert rows == [(0, "1", 1000, 3000, "failed"), (1, "2", 1000, 4000, "succeeded"), (2, "2", 3000, 5000, "failed")]
    assert made["active"] == {"time_ms": [start + 1000, start + 4000, start + 5000], "tasks": [2, 1, 0]}
    assert [task["id"] for task in document(pyrometer, "timeline", driver, "--executor", 2)["tasks"]] == [1, 2]
    assert document(pyrometer, "timeline", driver, "--stage", 1)["tasks"] == []


def test_an_executor_knows_less_than_the_driver(pyrometer: Command, driver: Path) -> None:
    folder = pyrometer.folder / "work" / "app-20240301101500-0000" / "1"
    folder.mkdir(parents=True)
    (folder / "stderr").write_text(
        "24/03/01 10:15:02 INFO Executor: Running task 0.0 in stage 0.0 (TID 0)\n"
        "24/03/01 10:15:02 INFO Executor: Running task 5.0 in stage 0.0 (TID 7)\n"
        "24/03/01 10:15:04 INFO Executor: Finished task 5.0 in stage 0.0 (TID 7). 900 bytes result sent to driver\n"
    )
    driver.rename(folder.parent / "driver.log")
    made = document(pyrometer, "timeline", pyrometer.folder / "work")
    (application,) = made["applications"]
    assert application["id"] == "app-20240301101500-0000"
    tasks = {task["id"]: task for task in made["tasks"]}
    assert sorted(tasks) == [0, 1, 2, 7]
    assert tasks[0]["start_ms"] == 1709288101000  # what the driver says
    assert (tasks[7]["executor"], tasks[7]["start_ms"], tasks[7]["end_ms"]) == ("1", 1709288102000, 1709288104000)


def test_top(pyrometer: Command, driver: Path) -> None:
    made = document(pyrometer, "top", driver)
    assert made["exact"] is False and made["chunks"]
    assert all(chunk["count"] >= 1 and chunk["lines"] for chunk in made["chunks"])
    path = pyrometer.folder / "same.log"
    path.write_text("24/03/01 10:15:00 INFO A: x\n24/03/01 10:15:00 INFO B: y\n" * 3, encoding="utf-8")
    (chunk,) = document(pyrometer, "top", path, "--exact")["chunks"]
    assert chunk["count"] == 3 and len(chunk["lines"]) == 2
    assert {c["group"] for c in document(pyrometer, "top", driver, "--by", "container")["chunks"]} == {"driver.log"}
    assert len(document(pyrometer, "top", driver, "-n", 1)["chunks"]) == 1


@pytest.mark.parametrize(
    ("words", "causes"),
    [
        (["--level", "error"], [None, "container-memory"]),
        (["--since", "2024-03-01T10:15:06"], [None, "container-memory"]),
        (["--until", "2024-03-01 10:15:05"], [None]),
        (["--since", "2024-03-01 11:15:06", "--tz", "+01:00"], []),
        (["--since", "2024-03-01T11:15:06+01:00"], [None, "container-memory"]),
        (["--stage", "0"], [None]),
        (["--stage", "5"], []),
        (["--executor", "driver"], [None, "container-memory", None]),
        (["--executor", "1"], []),
        (["--grep", "exceeding|rows"], [None, "container-memory"]),
        (["-n", "1"], [None]),
    ],
)
def test_filters(pyrometer: Command, driver: Path, words: list[str], causes: list[str | None]) -> None:
    made = document(pyrometer, "errors", driver, *words)
    assert [error["cause"] for error in made["errors"]] == causes


@pytest.mark.parametrize(
    "words",
    [
        ["bottom", "x"],
        ["errors"],
        ["errors", "x", "--level", "loud"],
        ["errors", "x", "--since", "yesterday"],
        ["errors", "x", "--stage", "one"],
        ["errors", "x", "--grep", "("],
        ["errors", "x", "--pattern", "%q"],
        ["errors", "x", "--tz", "Mars"],
        ["errors", "-", "-"],
        ["errors", "x", "-f", "html"],
        ["top", "x", "--by", "hour"],
        ["top", "x", "--exact", "--grep", "y"],
    ],
)
def test_wrong_usage_is_2(pyrometer: Command, words: list[str]) -> None:
    run = pyrometer("logs", *words)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("pyrometer")


def test_a_near_word_is_named(pyrometer: Command) -> None:
    assert "did you mean 'errors'?" in pyrometer("logs", "error", "x").stderr


def test_nothing_to_read_is_3_with_one_line(pyrometer: Command, log: Path) -> None:
    (pyrometer.folder / "empty.log").write_bytes(b"")
    (pyrometer.folder / "folder").mkdir()
    (pyrometer.folder / "binary.log").write_bytes(bytes(range(32)) * 50)
    (pyrometer.folder / "gc.log").write_text("[0.004s][info][gc] Using G1\n")
    for words in (["missing"], ["empty.log"], ["folder"], ["binary.log"], ["gc.log"], [log], ["-"], ["http://x/y"]):
        run = pyrometer("logs", "errors", *words)
        assert (run.returncode, run.stdout) == (3, ""), words
        assert len(run.stderr.splitlines()) == 1 and run.stderr.startswith("pyrometer: cannot read "), run.stderr
    assert "pyrometer diagnose" in pyrometer("logs", "errors", log).stderr


def test_what_cannot_be_read_does_not_stop_the_rest(pyrometer: Command, driver: Path, log: Path) -> None:
    run = pyrometer("logs", "errors", driver, "missing", log, "-f", "json")
    made = json.loads(run.stdout)
    assert run.returncode == 0
    assert [row["path"] for row in made["unreadable"]] == ["missing", str(log)]
    assert made["kinds"] == 3
    assert "missing" in run.stderr and "UTC" in run.stderr  # and that times have no zone
    assert pyrometer("logs", "errors", driver, "--tz", "UTC").stderr == ""


@pytest.mark.parametrize("verb", ["errors", "timeline", "top"])
def test_other_formats(pyrometer: Command, driver: Path, verb: str) -> None:
    text = pyrometer("logs", verb, driver).stdout
    assert "LOGS" in text and all(len(line) <= 200 for line in text.splitlines())
    rows = list(csv.reader(io.StringIO(pyrometer("logs", verb, driver, "-f", "csv").stdout)))
    assert len(rows) > 1 and all(len(row) == len(rows[0]) for row in rows)
    assert pyrometer("logs", verb, driver, "-o", "out").stdout == ""
    assert (pyrometer.folder / "out").read_text(encoding="utf-8") == text


def test_the_same_bytes_however_it_is_stored(pyrometer: Command, driver: Path) -> None:
    def errors(*words: object, **options: Any) -> Any:
        run = pyrometer("logs", "errors", *words, "-f", "json", **options)
        assert run.returncode == 0, run.stderr
        return [{**error, "containers": 0, "executors": 0} for error in json.loads(run.stdout)["errors"]]

    expected = errors(driver)
    packed = pyrometer.folder / "a.gz"
    packed.write_bytes(gzip.compress(driver.read_bytes()))
    assert errors(packed) == expected
    with zipfile.ZipFile(pyrometer.folder / "logs.zip", "w") as archive:
        archive.writestr("deep/driver.log", DRIVER)
        archive.writestr("deep/picture.bin", bytes(300))
    assert errors(pyrometer.folder / "logs.zip") == expected
    assert errors("-", input=DRIVER) == expected
    crlf = pyrometer.folder / "crlf.log"
    crlf.write_bytes(DRIVER.replace("\n", "\r\n").encode())
    assert [error["count"] for error in errors(crlf)] == [error["count"] for error in expected]


def test_a_torn_file_is_read_as_far_as_it_goes(pyrometer: Command) -> None:
    lines = "".join(f"24/03/01 10:{n // 60:02d}:{n % 60:02d} ERROR A: no {n * 7919 % 1000} left\n" for n in range(3000))
    packed = gzip.compress(lines.encode())
    (pyrometer.folder / "torn.gz").write_bytes(packed[: len(packed) // 2])
    made = document(pyrometer, "errors", "torn.gz")
    count = sum(error["count"] for error in made["errors"])
    assert 100 < count < 3000 and len(made["errors"]) <= 2  # the last line may be cut as well
    assert any(note["path"] == "torn.gz" and "damage" in note["text"] for note in made["notes"])


def test_long_lines_and_garbage_are_counted(pyrometer: Command) -> None:
    (pyrometer.folder / "odd.log").write_bytes(
        b"24/03/01 10:15:00 ERROR A: " + b"x" * (3 << 20) + b"\n"
        b"\0\0\0\0\0\x0024/03/01 10:15:01 ERROR B: after zeros\n"
        b"ab\0\x01\x02\xff\xfecd\n"
        b"24/03/01 10:14:00 ERROR C: \xff\xfe not UTF-8\n"
        b'{"stacktrace":["a"],"count":3,"i_d":"x"}\n'
        b'ConsoleOutputReporter - CpuAndMemory: {"heapMemoryTotalUsed":1}\n'
        b"24/03/01 10:15:02 ERROR D: without an end"
    )
    made = document(pyrometer, "errors", "odd.log")
    said = " ".join(note["text"] for note in made["notes"])
    assert "cut: 1" in said and "not text were left out: 1" in said and "profiler were left out: 2" in said
    assert "clock went back" in said
    assert [error["logger"] for error in made["errors"]] == ["D", "B", "A", "C"]
    assert len(made["errors"][2]["text"]) == 32 << 10


def test_many_kinds_are_bounded(pyrometer: Command) -> None:
    def word(n: int) -> str:
        return "".join(chr(97 + n // 26**k % 26) for k in range(4))

    lines = "".join(f"24/03/01 10:15:00 ERROR A: {word(n)}\n" for n in range(10_050))
    (pyrometer.folder / "many.log").write_text(lines, encoding="utf-8")
    made = document(pyrometer, "errors", "many.log")
    assert (made["kinds"], len(made["errors"]), made["other"]) == (10_000, 10_000, 50)


def test_secrets_are_hidden(pyrometer: Command) -> None:
    key = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    (pyrometer.folder / "x.log").write_text(
        "24/03/01 10:15:00 INFO SparkContext: Submitted application: etl password=hunter2\n"
        + f"24/03/01 10:15:00 ERROR A: cannot read s3a://{key}:abcdefghij@bucket/x with password=hunter2\n" * 2,
        encoding="utf-8",
    )
    for verb in ("errors", "top", "timeline"):
        for form in ("text", "json", "csv"):
            run = pyrometer("logs", verb, "x.log", "-f", form)
            assert run.returncode == 0
            assert "hunter2" not in run.stdout and "abcdefghij" not in run.stdout, (verb, form)
    assert "(redacted)" in pyrometer("logs", "errors", "x.log").stdout


def test_control_characters_do_not_reach_a_terminal(pyrometer: Command) -> None:
    (pyrometer.folder / "x.log").write_text("24/03/01 10:15:00 ERROR A: \x1b[31mred\x07\n", encoding="utf-8")
    for verb in ("errors", "top"):
        assert not re.search(r"[\x00-\x08\x0b-\x1f]", pyrometer("logs", verb, "x.log").stdout)


def test_folders(pyrometer: Command) -> None:
    deep = pyrometer.folder / "a"
    for level in range(10):
        (deep / "stderr").parent.mkdir(parents=True, exist_ok=True)
        (deep / "stderr").write_text(f"24/03/01 10:15:00 ERROR A{level}: x\n", encoding="utf-8")
        deep = deep / "b"
    (pyrometer.folder / "a" / ".hidden.log").write_text("24/03/01 10:15:00 ERROR H: x\n")
    (pyrometer.folder / "a" / "part-0.parquet").write_bytes(b"PAR1" + bytes(100))
    (pyrometer.folder / "outside.log").write_text("24/03/01 10:15:00 ERROR O: x\n")
    (pyrometer.folder / "a" / "link.log").symlink_to(pyrometer.folder / "outside.log")
    (pyrometer.folder / "a" / "loop").symlink_to(pyrometer.folder / "a")
    made = document(pyrometer, "errors", "a")
    assert sorted(error["logger"] for error in made["errors"]) == [f"A{level}" for level in range(8)]
    assert made["files"] == 8 and made["unreadable"] == []
    assert document(pyrometer, "errors", "a", "a/stderr")["errors"] == made["errors"]  # each file once


def test_zones(pyrometer: Command) -> None:
    path = pyrometer.folder / "x.log"

    def time_of(text: str, *words: str) -> tuple[int, bool]:
        path.write_text(text, encoding="utf-8")
        made = document(pyrometer, "errors", path, *words)
        return made["errors"][0]["time_ms"], any("zone" in note["text"] for note in made["notes"])

    line = "24/03/01 15:45:02 ERROR A: x\n"
    assert time_of(line) == (1709307902000, True)
    assert time_of(line, "--tz", "+05:30") == (1709288102000, False)
    assert time_of("2024-03-01T15:45:02.000+05:30 ERROR A: x\n") == (1709288102000, False)
    # The prefix of Kubernetes says the zone.
    assert time_of("2024-03-01T10:15:03.1Z stderr F " + line) == (1709288102000, False)


def test_partial_lines_of_kubernetes_are_joined(pyrometer: Command) -> None:
    (pyrometer.folder / "etl-0-exec-3.log").write_text(cri(DRIVER, "stderr", 11), encoding="utf-8")
    made = document(pyrometer, "errors", "etl-0-exec-3.log")
    assert sorted(error["count"] for error in made["errors"]) == [1, 1, 2]
    assert made["errors"][-1]["containers"] == ["etl-0-exec-3"]


def test_an_own_pattern(pyrometer: Command) -> None:
    (pyrometer.folder / "x.log").write_text("ERROR <main> 10.15.02 01.03.2024 | A~x\njava.lang.Error: y\n", encoding="utf-8")
    words = ["--pattern", "%p <%t> %d{HH.mm.ss dd.MM.yyyy} | %c~%m%n"]
    (error,) = document(pyrometer, "errors", "x.log", *words)["errors"]
    assert (error["time_ms"], error["logger"], error["classes"]) == (1709288102000, "A", ["java.lang.Error"])


def test_overlapping_jobs_and_two_runs_in_one_file(pyrometer: Command) -> None:
    run = (
        "24/03/01 10:{0}:00 INFO SparkContext: Running Spark version 3.5.6\n"
        "24/03/01 10:{0}:01 INFO DAGScheduler: Got job 0 (a at b:1) with 1 output partitions\n"
        "24/03/01 10:{0}:02 INFO DAGScheduler: Got job 1 (c at d:1) with 1 output partitions\n"
        "24/03/01 10:{0}:03 INFO DAGScheduler: Job 0 finished: a at b:1, took 2 s\n"
        "24/03/01 10:{0}:04 INFO DAGScheduler: Job 1 finished: c at d:1, took 2 s\n"
    )
    (pyrometer.folder / "x.log").write_text(run.format(15) + run.format(25), encoding="utf-8")
    made = document(pyrometer, "timeline", "x.log")
    rows = [(job["application"], job["id"], job["end_ms"] - job["start_ms"]) for job in made["jobs"]]
    assert rows == [(0, 0, 2000), (0, 1, 2000), (1, 0, 2000), (1, 1, 2000)]
    assert len(made["applications"]) == 2


def test_warnings_that_tell_an_end_are_errors(pyrometer: Command) -> None:
    """YARN's allocator only warns of what it killed; other warnings stay warnings."""
    lines = [
        "24/03/01 10:15:02 INFO YarnAllocator: Completed container container_1_1_01_000003 on host: h2 (state: COMPLETE, exit status: -104)",
        "24/03/01 10:15:02 WARN YarnAllocator: Container killed by YARN for exceeding physical memory limits. 5.6 GB of 5.5 GB physical memory used. "
        "Consider boosting spark.executor.memoryOverhead.",
        "24/03/01 10:15:03 WARN YarnAllocator: Container from a bad node: container_1_1_01_000004 on host: h3. Exit status: 139. Diagnostics: x.",
        "24/03/01 10:15:04 WARN YarnAllocator: Container container_1_1_01_000005 exited from explicit termination request.",
        "24/03/01 10:15:05 WARN ExecutorAllocationManager: Unable to reach the cluster manager to request more executors",
    ]
    (pyrometer.folder / "stderr").write_text("\n".join(lines) + "\n", encoding="ascii")
    made = document(pyrometer, "errors", "stderr")
    assert [(error["level"], error["cause"]) for error in made["errors"]] == [("WARN", "native-crash"), ("WARN", "container-memory")]


def test_what_no_line_of_is_known_is_said(pyrometer: Command) -> None:
    for text, looks in (
        ("row 1\nrow 2\n", "text without times"),
        ('{"a": 1}\n{"b": 2}\n', "JSON lines, not Spark's"),
        ('<verbosegc version="R28">\n<gc-op id="3" type="scavenge" />\n', "a GC log of an unknown form"),
    ):
        (pyrometer.folder / "odd").write_text(text, encoding="ascii")
        assert pyrometer("logs", "errors", "odd").stderr.endswith(f"--pattern says the form. It is {looks}\n")
    version = "OpenJDK 64-Bit Server VM (25.71-b00) for linux-aarch64 JRE (1.8.0), built on Aug 16 2022\nMemory: 4k page\n"
    for text in (
        "Using G1",
        "GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->5M(256M) 10.500ms",
        "1.5: [GC pause (young)",
        version + "CommandLine flags: -XX:+PrintGC -XX:+UseShenandoahGC",
        "[0.006s][info][os] SafePoint Polling address: 0x7f\n" * 9 + "[0.9s][info][gc] Using Shenandoah",
    ):
        (pyrometer.folder / "collections").write_text(text + "\n", encoding="ascii")
        assert "is a log of a garbage collector, not a text log: use 'pyrometer profile'" in pyrometer("logs", "errors", "collections").stderr
    (pyrometer.folder / "collections").rename(pyrometer.folder / "run-1.gc")
    (pyrometer.folder / "odd").unlink()
    assert "has no text log, but logs of a garbage collector: use 'pyrometer profile'" in pyrometer("logs", "errors", ".").stderr
    # Output of a program that has a collection in it stays text.
    (pyrometer.folder / "stdout").write_text("row\n" * 9 + "1.5: [GC (System.gc()) 5K->4K(6K), 0.1 secs]\n", encoding="ascii")
    assert document(pyrometer, "errors", "stdout")["files"] == 1
