"""Folders with more than an event log: what its garbage collectors logged, against a reading of the same lines here."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

import pytest
from conftest import ROOT, run_command

GC = ROOT / "tests" / "artefacts" / "gc"
RUNS = sorted(path.name for path in GC.iterdir())
EVENT = re.compile(r"(?:GC\(\d+\) )?(?:[YyO]: )?((?:Pause|Concurrent) .*?)(?: (\d+)M->(\d+)M\(\d+M\))? (\d+\.\d+)ms$")
SECOND = 10**9


class Collection(NamedTuple):
    pause: bool
    start_ns: Optional[int]  # None: the line has no time of day
    duration_ns: int
    freed: Optional[int]


def text_of(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def collections_of(path: Path) -> List[Collection]:
    found = []
    for line in text_of(path).splitlines():
        decorations, _, message = line.rpartition("] ") if not line.startswith("[") else split(line)
        match = EVENT.match(message.strip())
        if not match or not re.search(r"\[gc[,\] ]", decorations + "]"):
            continue
        name, before, after, ms = match.groups()
        duration = round(float(ms) * 10**6)
        time = re.match(r"\[(\d{4}-\d\d-\d\dT[\d:.]+[+-]\d{4})\]", line)
        end = None
        if time:
            moment = datetime.strptime(time.group(1), "%Y-%m-%dT%H:%M:%S.%f%z")
            end = round(moment.timestamp() * 1000) * 10**6
        freed = (int(before) - int(after)) << 20 if before else None
        found.append(Collection(name.startswith("Pause"), None if end is None else end - duration, duration, freed))
    return found


def split(line: str) -> Any:
    """Decorations and the message of a line of unified logging."""
    at = 0
    while at < len(line) and line[at] == "[":
        at = line.index("]", at) + 1
    return line[:at], "", line[at:]


def gc_logs(folder: Path) -> Dict[str, Path]:
    """The log of each executor."""
    return {re.search(r"-(\d+)\.gc", path.name).group(1): path for path in folder.iterdir() if ".gc" in path.name}  # type: ignore[union-attr]


def report(binary: str, *paths: Path) -> Any:
    run = run_command([binary, "diagnose", *map(str, paths), "--format", "json"])
    assert run.exit == 0, run.explain()
    return run.json


def rows(binary: str, folder: Path, statement: str) -> List[Dict[str, Any]]:
    run = run_command([binary, "sql", str(folder), statement, "--format", "json"])
    assert run.exit == 0, run.explain()
    return json.loads(run.out)


@pytest.mark.parametrize("name", RUNS)
def test_pauses_equal_the_lines(binary: str, name: str) -> None:
    folder = GC / name
    logs = gc_logs(folder)
    profiling = report(binary, folder)["profiling"]
    assert sorted((one["executor"], one["kind"]) for one in profiling["artefacts"]) == [(one, "gc-log") for one in sorted(logs)]
    for artefact in profiling["artefacts"]:
        assert artefact["bytes"] == len(text_of(logs[artefact["executor"]]).encode())
        assert artefact["records"] == len(collections_of(logs[artefact["executor"]])) > 0
        assert artefact["problems"] is None
    for found in profiling["gc_pauses"]:
        pauses = [one for one in collections_of(logs[found["executor"]]) if one.pause]
        total = sum(one.duration_ns for one in pauses)
        assert found["pauses"] == len(pauses) > 0
        assert abs(found["total_ms"] - total / 10**6) <= 0.5
        assert abs(found["longest_ms"] - max(one.duration_ns for one in pauses) / 10**6) <= 0.5
    assert len(profiling["gc_pauses"]) == len(logs)


@pytest.mark.parametrize("name", RUNS)
def test_spans_equal_the_lines(binary: str, name: str) -> None:
    folder = GC / name
    start_ns = report(binary, folder)["application"]["start_ms"] * 10**6
    found = rows(
        binary,
        folder,
        "SELECT executor, kind, start_ns, duration_ns, value FROM spans JOIN threads ON threads.id = spans.thread "
        "ORDER BY spans.id",
    )
    assert [row["start_ns"] for row in found] == sorted(row["start_ns"] for row in found)
    expected = []
    for executor, path in gc_logs(folder).items():
        for one in collections_of(path):
            assert one.start_ns is not None
            kind = "gc-pause" if one.pause else "gc"
            expected.append((executor, kind, one.start_ns - start_ns, one.duration_ns, one.freed))
    assert sorted(tuple(row.values()) for row in found if row["value"] is not None) == sorted(
        one for one in expected if one[-1] is not None
    )
    assert sorted(tuple(row.values())[:4] for row in found) == sorted(one[:4] for one in expected)


def test_times_without_a_clock_are_assumed(binary: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(GC / "serial", folder)
    for path in gc_logs(folder).values():
        path.write_text(re.sub(r"^\[[^]]*\]", "", text_of(path), flags=re.M), encoding="utf-8")
    clocks = rows(binary, folder, "SELECT DISTINCT base, method, error_ns FROM clocks")
    assert clocks == [{"base": "monotonic", "method": "assumed", "error_ns": 60 * SECOND}]
    timed = rows(binary, GC / "serial", "SELECT DISTINCT base, method, error_ns FROM clocks")
    assert timed == [{"base": "utc", "method": "text", "error_ns": 0}]
    spans = "SELECT count(*) AS count, sum(duration_ns) AS sum FROM spans"
    assert rows(binary, folder, spans) == rows(binary, GC / "serial", spans)


@pytest.mark.parametrize("name", RUNS)
def test_the_event_log_alone_says_the_same(binary: str, name: str) -> None:
    folder = GC / name
    log = next(folder.glob("*.zst"))
    alone, bundle = report(binary, log), report(binary, folder)
    assert "profiling" not in alone
    del bundle["profiling"]
    assert bundle == alone


def test_files_of_other_applications_are_left_out(binary: str, tmp_path: Path) -> None:
    for name in ("serial", "parallel"):
        shutil.copytree(GC / name, tmp_path / "logs" / name)
        for log in (tmp_path / "logs" / name).glob("*.zst"):
            log.rename(tmp_path / "logs" / log.name)
    lost = tmp_path / "logs" / "lost.txt"
    lost.write_text("[0.5s][info][gc] GC(0) Pause Young (Normal) 24M->4M(256M) 2.345ms\n", encoding="ascii")
    found = report(binary, tmp_path / "logs")
    assert len(found["reports"]) == 2
    for one in found["reports"]:
        paths = {artefact["path"] for artefact in one["profiling"]["artefacts"]}
        assert len(paths) >= 2 and all(one["application"]["id"] in path for path in paths)
    assert [(one["path"], "application id" in one["error"]) for one in found["unreadable"]] == [(str(lost), True)]


def test_a_file_without_an_id_belongs_to_the_only_application(binary: str, tmp_path: Path) -> None:
    log = next((GC / "serial").glob("*.zst"))
    shutil.copy(log, tmp_path)
    plain = tmp_path / "deep" / "er" / "driver.log"
    plain.parent.mkdir(parents=True)
    shutil.copy(gc_logs(GC / "g1")["0"], plain)
    (tmp_path / "notes.md").write_text("# nothing of ours\n", encoding="ascii")
    found = report(binary, tmp_path)
    if "reports" in found:  # the notes cannot be read, as before
        assert [Path(one["path"]).name for one in found["unreadable"]] == ["notes.md"]
        found = found["reports"][0]
    (artefact,) = found["profiling"]["artefacts"]
    assert (artefact["path"], artefact["executor"]) == (str(plain), "driver")


def test_torn_files_are_read_as_far_as_they_go(binary: str, tmp_path: Path) -> None:
    shutil.copytree(GC / "parallel", tmp_path / "run")
    logs = gc_logs(tmp_path / "run")
    data = logs["0"].read_bytes()
    logs["0"].write_bytes(data[: len(data) // 2])
    torn = next(one for one in report(binary, tmp_path / "run")["profiling"]["artefacts"] if one["executor"] == "0")
    assert 0 < torn["records"] < len(collections_of(gc_logs(GC / "parallel")["0"]))
    assert torn["problems"]


def test_folders_without_an_event_log_say_so(binary: str, tmp_path: Path) -> None:
    shutil.copy(gc_logs(GC / "serial")["0"], tmp_path)
    made = report(binary, tmp_path)
    assert made["integrity"]["notes"][0].startswith("There is no event log")


def test_links_that_lead_out_are_not_followed(binary: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(next((GC / "serial").glob("*.zst")), folder)
    (folder / "link.gc").symlink_to(gc_logs(GC / "serial")["0"])
    (folder / "around").symlink_to(tmp_path)
    found = report(binary, folder)
    found = found["reports"][0] if "reports" in found else found
    assert "profiling" not in found


LOGS = ROOT / "tests" / "artefacts" / "logs"


def test_text_logs_join_the_event_log(binary: str) -> None:
    folder = LOGS / "iso"  # its lines have the thread's name, which names the task
    profiling = report(binary, folder)["profiling"]
    assert [(one["kind"], one["executor"]) for one in profiling["artefacts"]] == [
        ("text-log", executor) for executor in ("driver", "0", "1", "2", "3")
    ]
    (counts,) = rows(
        binary,
        folder,
        "SELECT (SELECT count(*) FROM messages) AS messages, (SELECT sum(count) FROM templates) AS templated, "
        "(SELECT count(*) FROM messages WHERE template NOT IN (SELECT id FROM templates)) AS lost",
    )
    records = sum(one["records"] for one in profiling["artefacts"])
    assert counts == {"messages": records, "templated": records, "lost": 0}


def test_owners_agree_with_the_event_log(binary: str) -> None:
    found = rows(
        binary,
        LOGS / "iso",
        "SELECT tasks.id, tasks.stage = owners.stage AND tasks.stage_attempt = owners.stage_attempt AS same_stage, "
        "tasks.executor = threads.executor AS same_executor, "
        # messages have seconds or milliseconds, and events the time of the driver
        "owners.start_ns >= (launch_ms - a.start_ms - 1000) * 1000000 "
        "AND owners.end_ns <= (finish_ms - a.start_ms + 1000) * 1000000 AS inside "
        "FROM owners JOIN tasks ON tasks.id = owners.task JOIN threads ON threads.id = owners.thread, applications a",
    )
    events = rows(binary, LOGS / "iso", "SELECT id FROM tasks")
    assert {row["id"] for row in found} == {row["id"] for row in events}
    assert all(row["same_stage"] and row["same_executor"] and row["inside"] for row in found), found


ZONED = [
    "SELECT time_ns, level, thread, template, place FROM messages ORDER BY artefact, place",
    "SELECT start_ns, end_ns, task, stage FROM owners ORDER BY thread, start_ns",
    "SELECT kind, class_name, time_ms, count FROM failures",
    "SELECT id, first_ns, last_ns FROM artefacts ORDER BY id",
]


@pytest.mark.parametrize("zone, minutes", [("+02:00", 120), ("-03:30", -210), ("+05:45", 345), (None, 0)])
def test_the_zone_of_a_log_follows_from_its_tasks(binary: str, tmp_path: Path, zone: Optional[str], minutes: int) -> None:
    def shifted(match: Any) -> str:
        return (datetime.strptime(match[0], "%y/%m/%d %H:%M:%S") + timedelta(minutes=minutes)).strftime("%y/%m/%d %H:%M:%S")

    shutil.copytree(LOGS / "spark35", tmp_path / "run")
    for path in (tmp_path / "run").rglob("*.gz"):
        text = re.sub(r"(?m)^\d\d/\d\d/\d\d \d\d:\d\d:\d\d", shifted, text_of(path))
        path.write_bytes(gzip.compress(text.encode()))
    for statement in ZONED:
        assert rows(binary, tmp_path / "run", statement) == rows(binary, LOGS / "spark35", statement)
    clocks = rows(binary, tmp_path / "run", "SELECT base, zone, offset_ns, method, matches > 0 AS matched FROM clocks ORDER BY method")
    offset = -minutes * 60 * SECOND
    own = {"base": "local", "zone": zone, "offset_ns": offset, "method": "running-task", "matched": 1}
    other = {**own, "method": "other-log", "matched": 0}  # of an executor that ran no task
    assert clocks == [other, own, own, own, own]


def test_logs_without_tasks_keep_utc(binary: str, tmp_path: Path) -> None:
    shutil.copy(LOGS / "spark35" / "events.zst", tmp_path)
    lines = [f"26/11/23 19:43:{i} INFO Executor: Running task 0.0 in stage 9.0 (TID {9000 + i})" for i in range(10, 60)]
    (tmp_path / "driver.log").write_text("\n".join(lines) + "\n", encoding="ascii")
    assert rows(binary, tmp_path, "SELECT base, zone, method FROM clocks") == [{"base": "local", "zone": None, "method": "assumed"}]


def test_millions_of_threads_are_bounded(binary: str, tmp_path: Path) -> None:
    shutil.copy(LOGS / "iso" / "events.zst", tmp_path)
    most, more = 1 << 18, 1000
    line = "2026-11-23T19:00:00.000Z [Executor task launch worker for task {0}.0 in stage 9.0 (TID {0})] INFO  Executor - It runs\n"
    (tmp_path / "executor-1.log").write_text("".join(line.format(i) for i in range(most + more)), encoding="ascii")
    (found,) = rows(
        binary,
        tmp_path,
        "SELECT (SELECT count(*) FROM threads) AS threads, (SELECT count(*) FROM owners) AS owners, (SELECT sum(count) FROM templates) AS "
        "records, (SELECT count(*) FROM messages WHERE thread = 0) AS nameless, (SELECT problems FROM artefacts) AS problems",
    )
    problems = f"{more + 1} records keep only their process: there are more than {most} threads"
    assert found == {"threads": most, "owners": most - 1, "records": most + more, "nameless": more + 1, "problems": problems}


LOGGED = "SELECT kind, reason, class_name, message, executor FROM failures WHERE source = 'text-log'"


@pytest.mark.parametrize("name", ["spark35", "iso", "spark4", "json"])
def test_errors_of_logs_are_failures_that_no_event_reports(binary: str, name: str) -> None:
    found = rows(binary, LOGS / name, LOGGED)
    assert {row["kind"] for row in found} == {"log"}
    thrown = [(row["class_name"], row["reason"]) for row in found if row["class_name"]]
    assert thrown == [("java.lang.ClassNotFoundException", "missing-class")] * 2  # on the driver, in no job
    assert all("RECEIVED SIGNAL TERM" in row["message"] for row in found if not row["class_name"])


def test_a_failure_in_other_words_counts_once(binary: str, tmp_path: Path) -> None:
    shutil.copytree(LOGS / "spark4", tmp_path / "run")
    text = text_of(tmp_path / "run" / "driver.log.gz")
    (tmp_path / "run" / "driver.log.gz").unlink()
    log = tmp_path / "run" / "driver.log"
    traceback = "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\nValueError: {0}\n\n" + (
        "The above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\nRuntimeError: {0}\n"
    )

    def logged(more: str) -> List[Dict[str, Any]]:
        log.write_text(text.replace("exited with code 137", "was killed with exit code 137") + more, encoding="utf-8")
        return rows(binary, tmp_path / "run", LOGGED)

    known = logged("")
    assert len(known) == 3
    task = "26/11/23 19:57:19 ERROR Executor: Exception in task 1.1 in stage 5.0 (TID {})\n"
    assert logged(task.format(18) + traceback.format("no words of an event")) == known
    for tid, thrown in ((19, traceback.format("of a task that ended well")), (18, "java.io.IOException: of no event\n")):
        assert len(logged(task.format(tid) + thrown)) == 4
    lost = "26/11/23 19:57:45 ERROR TaskSchedulerImpl: Lost executor 0 on 127.0.0.1: {}\n"
    assert logged(lost.format("it ended with exit code 52")) == known
    assert logged(lost.format("it is gone")) == known
    more = logged(lost.format("Container killed by YARN for exceeding memory limits. 2 GB of 2 GB physical memory used"))
    assert [row["reason"] for row in more if row["executor"] == "0"] == ["container-memory"]  # events say heap


def test_secrets_of_logs_do_not_reach_the_tables(binary: str, tmp_path: Path) -> None:
    shutil.copy(LOGS / "iso" / "events.zst", tmp_path)
    secret = "hunter2hunter2"
    lines = [f"24/03/01 10:15:0{i} ERROR Job: cannot open jdbc:mysql://host/db?user=me&password={secret}" for i in range(5)]
    (tmp_path / "driver.log").write_text("\n".join(lines) + "\n", encoding="ascii")
    for statement in ("SELECT * FROM templates", "SELECT * FROM failures"):
        found = rows(binary, tmp_path, statement)
        assert "cannot open" in json.dumps(found) and secret not in json.dumps(found)


def test_files_that_are_nothing_do_not_disturb(binary: str, tmp_path: Path) -> None:
    """Beside an event log, a file without events is named with what it looks like, and is not taken for another log."""
    folder = tmp_path / "run"
    shutil.copytree(GC / "serial", folder)
    alone = rows(binary, folder, "SELECT count(*) AS count FROM tasks")
    texts = {
        "README.md": ("# Runs of March\nThree executors each.\n", "text without times"),
        "other.json": ('{"a": 1}\n{"b": 2}\n', "JSON lines, not Spark's"),
        "page.xml": ("<html>\n<body/>\n</html>\n", "XML or HTML"),
        "j9.gc": ('<?xml version="1.0" ?>\n<verbosegc version="R28">\n<gc-op id="3" type="scavenge" timems="3.2" />\n', "a GC log of an unknown form"),
        "jobs.txt": ("begun 2024-03-01 10:15:02\nended 2024-03-01 10:16:02\n", "text with times, but not a log of a known form"),
    }
    for name, (text, _) in texts.items():
        (folder / name).write_text(text, encoding="ascii")
    assert rows(binary, folder, "SELECT count(*) AS count FROM tasks") == alone
    run = run_command([binary, "diagnose", str(folder)])
    assert run.exit == 0, run.explain()
    assert sorted(run.err.decode().splitlines()) == sorted(
        f"pyrometer: cannot read {folder / name}: {'is' if 'GC log' in looks else 'is not a Spark event log, but'} {looks}"
        for name, (_, looks) in texts.items()
    )
    for name, (text, looks) in texts.items():
        run = run_command([binary, "diagnose", str(folder / name)])
        begins = "this is" if "GC log" in looks else "lines has a Spark event; it is"
        assert run.exit == 3 and run.err.decode().endswith(f"{begins} {looks}\n"), run.explain()


@pytest.mark.parametrize("contexts, owned", [
    (lambda tid, stage: {"task": str(tid), "stage": f"{stage}.0"}, True),  # as the Spark plugin names tasks
    (lambda tid, stage: {"task_name": f"task 0.0 in stage {stage}.0 (TID {tid})", "task": "999", "stage": "9.0"}, True),
    (lambda tid, stage: {"task": str(tid)}, False),  # of some other program
    (lambda tid, stage: {"task": "load", "stage": "prod"}, False),
])
def test_contexts_of_records_name_tasks(binary: str, tmp_path: Path, contexts: Any, owned: bool) -> None:
    log = ROOT / "corpus" / "logs" / "data_skew.zst"
    shutil.copy(log, tmp_path)
    wanted = rows(binary, tmp_path, "SELECT t.id, t.stage, t.launch_ms, a.id AS app FROM tasks t, applications a LIMIT 5")
    lines = []
    for row in wanted:
        moment = datetime.fromtimestamp(row["launch_ms"] / 1000, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for text in ("begins", "ends"):
            lines.append({"ts": moment, "level": "INFO", "msg": f"{text} {row['app']}", "logger": "L",
                          "context": contexts(row["id"], row["stage"])})
    (tmp_path / "executor-1.json").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = rows(binary, tmp_path, "SELECT DISTINCT task FROM owners WHERE method = 'named' ORDER BY 1")
    assert [row["task"] for row in found] == (sorted(row["id"] for row in wanted) if owned else [])
