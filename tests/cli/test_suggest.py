"""pyrometer suggest on stores whose runs follow a known model, and on recorded ones."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
import types
from pathlib import Path
from typing import Any, Dict, List

import conftest
import pytest
from cli_command import ROOT, Command, pyrometer  # noqa: F401  (fixture)
from schemas import check
from suggested_runs import LOG, Made, Runs, record


@pytest.fixture
def store(pyrometer: Command, tmp_path: Path) -> Path:  # noqa: F811
    path = tmp_path / "runs.db"
    record(pyrometer, path)
    return path


@pytest.fixture
def nightly(store: Path) -> Runs:
    """24 runs: 20, 10 and 16 slots, 20 blocks; the last run had 16 slots."""
    runs = Runs(store)
    for i in range(24):
        runs.add((Made(5, 4), Made(5, 2), Made(8, 2))[i % 3])
    return runs


def ask(pyrometer: Command, store: Path, *arguments: object) -> Any:  # noqa: F811
    run = pyrometer("suggest", "-s", f"sqlite:{store}", "-f", "json", *arguments)
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    return json.loads(run.stdout)


def suggested(pyrometer: Command, store: Path, *arguments: object) -> Any:  # noqa: F811
    document = ask(pyrometer, store, "--app", "nightly", *arguments)
    check(document, "pyrometer.suggestion-1.json")
    return document


def test_the_cheapest_that_is_not_slower(pyrometer: Command, store: Path, nightly: Runs) -> None:  # noqa: F811
    document = suggested(pyrometer, store)
    assert document["settings"] == {"spark.executor.instances": "5"}
    assert document["previous"] == {"spark.executor.instances": "8"}
    assert document["goal"] == "cheaper" and document["missing"] == []
    assert document["basis"]["model"] == "wave" and document["basis"]["runs"] == 24
    assert document["current"]["wall_ms"]["expected"] == 130000
    assert document["expected"]["core_ms"] == 1300000
    text = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}")
    assert text.returncode == 0 and "spark.executor.instances=5    (now 8)" in text.stdout


def test_executors_that_came_and_went(pyrometer: Command, store: Path) -> None:  # noqa: F811
    """The most at once count, not all of them: the times follow the same model as those of runs that kept theirs."""
    runs = Runs(store)
    dynamic = {"spark.dynamicAllocation.enabled": "true"}
    for i in range(24):
        runs.add((Made(5, 4), Made(5, 2), Made(8, 2))[i % 3]._replace(settings=dynamic, replaced=i % 7))
    document = suggested(pyrometer, store)
    assert document["basis"]["model"] == "wave" and document["basis"]["error"] < 1e-6
    assert document["current"]["wall_ms"]["expected"] == 130000
    assert any("most that it had at once" in text for text in document["doubts"])


def test_goals(pyrometer: Command, store: Path, nightly: Runs) -> None:  # noqa: F811
    wanted = {"spark.executor.instances": "5", "spark.executor.cores": "4"}
    assert suggested(pyrometer, store, "--deadline", "80s")["settings"] == wanted
    assert suggested(pyrometer, store, "--max-cost", "0.41")["settings"] == wanted
    document = suggested(pyrometer, store, "--deadline", "30s")
    assert document["settings"] == {} and "deadline" in document["missing"][0]
    document = suggested(pyrometer, store, "--input-bytes", str(10 * 2**27))
    assert document["input_bytes"] == 10 * 2**27
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--deadline", "1h", "--max-cost", "1")
    assert run.returncode == 2 and "not both" in run.stderr


def test_settings_for_spark(pyrometer: Command, store: Path, nightly: Runs) -> None:  # noqa: F811
    arguments = ["suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--deadline", "80s", "-f"]
    flags = pyrometer(*arguments, "spark-submit").stdout
    assert shlex.split(flags) == ["--conf", "spark.executor.instances=5", "--conf", "spark.executor.cores=4"]
    lines = pyrometer(*arguments, "spark-defaults").stdout
    assert lines == "spark.executor.instances 5\nspark.executor.cores 4\n"


def test_too_little_history_is_no_error(pyrometer: Command, store: Path) -> None:  # noqa: F811
    document = suggested(pyrometer, store)
    assert document["settings"] == {} and document["expected"] is None and document["missing"]
    runs = Runs(store)
    for _ in range(4):
        runs.add(Made(5, 4))
    assert any("1 more run" in text for text in suggested(pyrometer, store)["missing"])
    runs.add(Made(5, 4))
    assert any("a second configuration" in text for text in suggested(pyrometer, store)["missing"])
    for form in ("spark-submit", "spark-defaults"):
        run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "-f", form)
        assert (run.returncode, run.stdout) == (0, "")


def test_every_application(pyrometer: Command, store: Path, nightly: Runs) -> None:  # noqa: F811
    hourly = Runs(store, "hourly")
    for i in range(9):
        hourly.add((Made(20, 4, 80), Made(20, 2, 80), Made(32, 2, 80))[i % 3])
    document = ask(pyrometer, store, "--all")
    check(document, "pyrometer.suggestions-1.json")
    names = [one["application"] for one in document["suggestions"]]
    assert names[:2] == ["hourly", "nightly"] and len(names) == 3
    assert "Application: hourly" in pyrometer("suggest", "--all", "-s", f"sqlite:{store}").stdout


def test_any_number_of_applications(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    """More than a question may have groups; the runs of "nightly" are in two pages."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("policy:\n  enabled: false\n", encoding="utf-8")
    with sqlite3.connect(store) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(run)") if row[1] not in ("key", "app_id", "application")]
        columns = ", ".join(names)
        db.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10020) "
            "INSERT INTO run (app_id, application, "
            f"{columns}) SELECT 'a' || i, CASE WHEN i <= 9985 THEN 'app ' ELSE 'other ' END || i, {columns} "
            "FROM n, (SELECT * FROM run LIMIT 1)"
        )
        expected = [row[0] for row in db.execute("SELECT DISTINCT application FROM run ORDER BY 1")]
    document = ask(pyrometer, store, "--all", "--policy", policy)
    check(document, "pyrometer.suggestions-1.json")
    assert [one["application"] for one in document["suggestions"]] == expected and len(expected) > 10000


def test_policy(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    policy = tmp_path / "crawl.yaml"
    policy.write_text("policy:\n  max_cores: 2\n  max_executors: 9\n", encoding="utf-8")
    assert suggested(pyrometer, store, "--deadline", "80s", "--policy", policy)["settings"] == {}
    policy.write_text("policy:\n  enabled: false\n", encoding="utf-8")
    assert "policy turns" in suggested(pyrometer, store, "--policy", policy)["missing"][0]
    policy.write_text("policy:\n  max-core: 2\n", encoding="utf-8")
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--policy", policy)
    assert run.returncode == 2 and "line 2" in run.stderr and "did you mean 'max_cores'" in run.stderr


def test_ladder_after_deaths(pyrometer: Command, store: Path, nightly: Runs) -> None:  # noqa: F811
    cause = "Tasks could not get execution memory."
    nightly.add_finding(nightly.add(Made(8, 2, status="failed")), "executor-oom", cause)
    document = suggested(pyrometer, store)
    assert document["goal"] == "survive" and document["basis"]["rung"] == "half the tasks at once"
    assert document["settings"] == {"spark.executor.cores": "1"} and document["expected"] is None
    again = suggested(pyrometer, store)
    assert (again["id"], again["basis"]["rung"]) == (document["id"], "half the tasks at once")
    # The next run had it and died too: its start is after the suggestion.
    nightly.start_ms += 40 * 24 * 3600 * 1000
    nightly.add_finding(nightly.add(Made(8, 1, status="failed")), "executor-oom", cause)
    document = suggested(pyrometer, store)
    assert document["settings"] == {"spark.executor.memory": "1536m", "spark.executor.memoryOverhead": "576m"}
    with sqlite3.connect(store) as db:
        rows = db.execute("SELECT state, goal, note FROM suggestions ORDER BY time_ms").fetchall()
    assert rows == [
        ("suggested", "survive", "half the tasks at once"),
        ("suggested", "survive", "executor memory x 1.5"),
    ]


# ---- Files ----


BEFORE = "# ours\nspark.executor.cores  2\nspark.executor.instances=7\nspark.app.name x\nspark.executor.instances 8"
AFTER = "# ours\nspark.executor.cores  2\nspark.executor.instances=7\nspark.app.name x\nspark.executor.instances 5\n"


def state_of(store: Path) -> List[str]:
    with sqlite3.connect(store) as db:
        return [state for (state,) in db.execute("SELECT state FROM suggestions ORDER BY time_ms")]


def apply(pyrometer: Command, store: Path, file: Path) -> Any:  # noqa: F811
    return suggested(pyrometer, store, "--apply", file)


def test_apply_changes_its_own_lines_only(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "spark-defaults.conf"
    file.write_text(BEFORE, encoding="utf-8")
    file.chmod(0o640)
    document = apply(pyrometer, store, file)
    assert file.read_text(encoding="utf-8") == AFTER and file.stat().st_mode & 0o777 == 0o640
    applied = document["applied"]
    assert Path(applied["target"]) == file and Path(applied["kept"]).read_text(encoding="utf-8") == BEFORE
    assert re.fullmatch("[0-9a-f]{32}", applied["before_xxh128"]) and re.fullmatch("[0-9a-f]{32}", applied["after_xxh128"])
    assert applied["before_xxh128"] != applied["after_xxh128"]
    assert Path(applied["kept"]).stat().st_mode & 0o777 == 0o640
    assert state_of(store) == ["applied"]
    # Again, as every night: nothing changes, and the former file stays what it was.
    assert apply(pyrometer, store, file)["applied"] == applied and state_of(store) == ["applied"]
    assert file.read_text(encoding="utf-8") == AFTER and Path(applied["kept"]).read_text(encoding="utf-8") == BEFORE
    assert sorted(path.name for path in tmp_path.glob("spark-defaults*")) == [file.name, Path(applied["kept"]).name]


def test_apply_makes_a_file(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    mask = os.umask(0o027)
    try:
        document = apply(pyrometer, store, tmp_path / "new.conf")
    finally:
        os.umask(mask)
    assert (tmp_path / "new.conf").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "new.conf").read_text(encoding="utf-8") == "spark.executor.instances 5\n"
    assert document["applied"]["kept"] is None
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--apply", tmp_path / "none" / "x.conf")
    assert run.returncode == 4 and run.stderr.count("\n") == 1


def continued(text: str) -> Dict[str, str]:
    """The settings of a file as java.util.Properties reads it."""
    found, lines = {}, re.split("\r\n|\r|\n", text)
    while lines:
        line = lines.pop(0).lstrip()
        if not line or line[0] in "#!":
            continue
        while re.search(r"(?<!\\)(?:\\\\)*\\$", line):
            line = line[:-1] + (lines.pop(0).lstrip() if lines else "")
        key, value = re.fullmatch(r"([^\s=:]+)\s*[=:]?\s*(.*)", line, re.S).groups()  # type: ignore[union-attr]
        found[key] = value
    return found


@pytest.mark.parametrize(
    "before",
    ["a b\\", "a b\\\n", "a b\\\r\n", "a b\\\\", "a \\\n  spark.executor.instances 9\nc d\n", "# a\\\nc d\\\n  \n", "a b\rc d\r"],
)
def test_apply_to_lines_that_go_on(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path, before: str) -> None:  # noqa: F811
    file = tmp_path / "spark-defaults.conf"
    file.write_text(before, encoding="utf-8", newline="")
    apply(pyrometer, store, file)
    with file.open(encoding="utf-8", newline="") as applied:
        text = applied.read()
    assert text.startswith(before)
    assert continued(text) == {**continued(before), "spark.executor.instances": "5"}


def test_two_writers_lose_nothing(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    """Of two stores, so that only the file is what they share."""
    other = tmp_path / "other.db"
    shutil.copy(store, other)
    runs = Runs(other)
    runs.count = 24
    runs.add_finding(runs.add(Made(8, 2, status="failed")), "executor-oom", "Tasks could not get execution memory.")
    settings = ["spark.executor.instances 5", "spark.executor.cores 1"]
    for round_ in range(20):
        folder = tmp_path / str(round_)
        folder.mkdir()
        file = folder / "spark-defaults.conf"
        file.write_text("spark.app.name x\n", encoding="utf-8")
        writers = []
        for number, origin in enumerate((store, other)):
            copy = folder / f"{number}.db"
            shutil.copy(origin, copy)
            command = [conftest.binary_path(), "suggest", "--app", "nightly", "-s", f"sqlite:{copy}", "--apply", file]
            writers.append(subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        ends = [writer.communicate(timeout=60)[1] for writer in writers]
        assert [writer.returncode for writer in writers] == [0, 0], ends
        assert sorted(file.read_text(encoding="utf-8").splitlines()) == sorted(["spark.app.name x", *settings])


def test_what_was_rolled_back_is_not_applied_again(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "spark-defaults.conf"
    file.write_text(BEFORE, encoding="utf-8")
    apply(pyrometer, store, file)
    file.write_text(BEFORE, encoding="utf-8")
    with sqlite3.connect(store) as db:
        db.execute("UPDATE suggestion SET state = 'rolled_back'")
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--apply", file)
    assert run.returncode == 2 and "was rolled back" in run.stderr
    assert file.read_text(encoding="utf-8") == BEFORE and state_of(store) == ["rolled_back"]


def test_a_changed_file_is_refused(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "spark-defaults.conf"
    file.write_text(BEFORE, encoding="utf-8")
    apply(pyrometer, store, file)
    file.write_text(AFTER + "spark.more true\n", encoding="utf-8")
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--apply", file)
    assert run.returncode == 3 and "was changed since" in run.stderr
    assert file.read_text(encoding="utf-8") == AFTER + "spark.more true\n"
    review = ask(pyrometer, store, "--review", "--rollback")
    check(review, "pyrometer.suggestion_review-1.json")
    assert [one["action"] for one in review["reviews"]] == ["changed"] and state_of(store) == ["refused"]
    assert file.read_text(encoding="utf-8") == AFTER + "spark.more true\n"


def test_unattended_needs_permission(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    file, policy = tmp_path / "spark-defaults.conf", tmp_path / "crawl.yaml"
    for text in ("max_executors: 50", "apply: [nightly]", "{max_executors: 50, apply: [hourly]}"):
        policy.write_text(f"policy: {text}\n" if text[0] == "{" else f"policy:\n  {text}\n", encoding="utf-8")
        suggested(pyrometer, store, "--apply", file, "--unattended", "--policy", policy)
        assert not file.exists() and state_of(store) == ["suggested"]
    policy.write_text("policy: {max_executors: 50, apply: [nightly]}\n", encoding="utf-8")
    suggested(pyrometer, store, "--apply", file, "--unattended", "--policy", policy)
    assert file.read_text(encoding="utf-8") == "spark.executor.instances 5\n" and state_of(store) == ["applied"]


def after_apply(nightly: Runs) -> None:
    """Later runs start after now."""
    nightly.start_ms += 40 * 24 * 3600 * 1000


@pytest.mark.parametrize(
    ("durations", "status", "action", "state"),
    [
        ([130000], "completed", "wait", "applied"),
        ([120000, 121000, 122000], "completed", "keep", "kept"),
        ([200000], "completed", "roll_back", "rolled_back"),
        ([100], "failed", "roll_back", "rolled_back"),
    ],
)
def test_review(
    pyrometer: Command,  # noqa: F811
    store: Path,
    nightly: Runs,
    tmp_path: Path,
    durations: List[int],
    status: str,
    action: str,
    state: str,
) -> None:
    file = tmp_path / "spark-defaults.conf"
    file.write_text(BEFORE, encoding="utf-8")
    apply(pyrometer, store, file)
    assert ask(pyrometer, store, "--review")["reviews"][0]["action"] == "wait"
    after_apply(nightly)
    for duration in durations:
        app_id = nightly.add(Made(5, 2, duration_ms=duration, status=status))
        if status == "failed":
            nightly.add_finding(app_id, "executor-oom", "out of memory")
    # Without --rollback nothing is taken back.
    if action == "roll_back":
        assert not ask(pyrometer, store, "--review")["reviews"][0]["rolled_back"]
        assert file.read_text(encoding="utf-8") == AFTER
    review = ask(pyrometer, store, "--review", "--rollback")
    check(review, "pyrometer.suggestion_review-1.json")
    assert review["reviews"][0]["action"] == action and review["reviews"][0]["runs"] == len(durations)
    assert state_of(store) == [state]
    assert file.read_text(encoding="utf-8") == (BEFORE if action == "roll_back" else AFTER)
    assert len(ask(pyrometer, store, "--review")["reviews"]) == (state == "applied")


def test_review_shows_failed_and_slow_runs(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    def share(hits: int, count: int) -> Any:
        z2 = 1.959963984540054**2 / count
        middle, half = hits / count + z2 / 2, math.sqrt(z2 * (hits / count * (1 - hits / count) + z2 / 4))
        ends = ((middle - half) / (1 + z2) if hits else 0, (middle + half) / (1 + z2))
        return pytest.approx({"share": hits / count, "low": ends[0], "high": ends[1]})

    apply(pyrometer, store, tmp_path / "spark-defaults.conf")
    after_apply(nightly)
    nightly.add(Made(5, 2, duration_ms=120000))
    few = ask(pyrometer, store, "--review")["reviews"][0]["realised"]
    assert few["slow_after"] == {"share": None, "low": None, "high": None} and few["slow_ms"] is None
    nightly.add(Made(5, 2, duration_ms=100, status="failed"))
    nightly.add(Made(5, 2, duration_ms=121000))
    nightly.add(Made(5, 2, duration_ms=200000))
    text = pyrometer("suggest", "--review", "-s", f"sqlite:{store}").stdout
    assert "; failed: 0 % before, 25 % after; slow: 0 % before, 33 % after)" in text, text
    document = ask(pyrometer, store, "--review")
    check(document, "pyrometer.suggestion_review-1.json")
    realised = document["reviews"][0]["realised"]
    assert realised["failed_before"] == share(0, 10) and realised["failed_after"] == share(1, 4)
    assert realised["slow_before"] == share(0, 10) and realised["slow_after"] == share(1, 3)
    assert realised["slow_ms"] == pytest.approx(130000) and realised["failed_share_after"] == 0.25


def test_two_suggestions_for_one_file(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "spark-defaults.conf"
    file.write_text(BEFORE, encoding="utf-8")
    apply(pyrometer, store, file)
    suggested(pyrometer, store, "--deadline", "80s", "--apply", file)
    both = file.read_text(encoding="utf-8")
    assert both == AFTER.replace("cores  2", "cores 4")
    reviews = ask(pyrometer, store, "--review", "--rollback")["reviews"]
    assert [one["action"] for one in reviews] == ["wait", "wait"] and state_of(store) == ["applied", "applied"]
    # The first does harm, but its former file lacks what the second one set.
    after_apply(nightly)
    nightly.add_finding(nightly.add(Made(5, 2, status="failed")), "executor-oom", "out of memory")
    first = ask(pyrometer, store, "--review", "--rollback")["reviews"][0]
    assert (first["action"], first["rolled_back"]) == ("roll_back", False) and "newer suggestion" in first["reason"]
    assert file.read_text(encoding="utf-8") == both and state_of(store) == ["applied", "applied"]
    # The second does harm too: it is taken back, then the first is.
    for expected in (AFTER, BEFORE):
        nightly.add_finding(nightly.add(Made(5, 4, status="failed")), "executor-oom", "out of memory")
        ask(pyrometer, store, "--review", "--rollback")
        assert file.read_text(encoding="utf-8") == expected
    assert state_of(store) == ["rolled_back", "rolled_back"]


def test_a_changed_file_of_two_suggestions(pyrometer: Command, store: Path, nightly: Runs, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "spark-defaults.conf"
    apply(pyrometer, store, file)
    suggested(pyrometer, store, "--deadline", "80s", "--apply", file)
    file.write_text("spark.executor.instances 5\n", encoding="utf-8")  # as the first left it
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--apply", file)
    assert run.returncode == 3 and "was changed since" in run.stderr
    reviews = ask(pyrometer, store, "--review")["reviews"]
    assert [one["action"] for one in reviews] == ["changed", "changed"] and state_of(store) == ["refused", "refused"]


# ---- Jobs ----


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A command that writes down its arguments, and fails with 7."""
    path = tmp_path / "job"
    path.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\nexit 7\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_job_starts_with_the_settings(pyrometer: Command, store: Path, nightly: Runs, job: Path) -> None:  # noqa: F811
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--", job, "--conf", "a=b c", "etl.py")
    assert run.returncode == 7 and run.stderr == ""
    assert run.stdout.splitlines() == ["--conf", "spark.executor.instances=5", "--conf", "a=b c", "etl.py"]
    assert state_of(store) == ["suggested"]


def test_a_job_has_its_own_signals(pyrometer: Command, store: Path, nightly: Runs, job: Path) -> None:  # noqa: F811
    """What the command ignores itself, such as a reader that goes away, its job does not."""
    job.write_text("#!/bin/sh\nexec grep SigIgn /proc/self/status\n", encoding="utf-8")
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--", job)
    ignored = int(run.stdout.split()[1], 16)
    assert not ignored & (1 << signal.SIGPIPE - 1) and not ignored & (1 << signal.SIGXFSZ - 1)


def test_a_job_starts_without_a_suggestion(pyrometer: Command, tmp_path: Path, job: Path) -> None:  # noqa: F811
    damaged = tmp_path / "damaged.db"
    damaged.write_text("no store", encoding="utf-8")
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{damaged}", "--", job, "etl.py")
    assert (run.returncode, run.stdout) == (7, "etl.py\n") and "damaged" in run.stderr


def test_a_job_does_not_wait_for_an_answer(pyrometer: Command, store: Path, tmp_path: Path, job: Path) -> None:  # noqa: F811
    """A policy that never ends: a pipe without a writer."""
    endless = tmp_path / "endless.yaml"
    os.mkfifo(endless)
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--policy", endless, "--", job, "etl.py")
    assert (run.returncode, run.stdout) == (7, "etl.py\n") and "no suggestion within 2 seconds" in run.stderr


def test_a_job_does_not_wait_for_a_locked_store(pyrometer: Command, store: Path, nightly: Runs, job: Path) -> None:  # noqa: F811
    """The job ends while the store is still locked; the suggestion is kept once it is not."""
    writer = sqlite3.connect(store, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--", job, "etl.py")
    assert writer.in_transaction and state_of(store) == []
    assert (run.returncode, run.stderr) == (7, "")
    assert run.stdout.splitlines() == ["--conf", "spark.executor.instances=5", "etl.py"]
    writer.execute("ROLLBACK")
    for _ in range(600):
        if state_of(store):
            break
        time.sleep(0.1)
    assert state_of(store) == ["suggested"]


def test_a_job_starts_though_the_suggestion_is_not_kept(
    pyrometer: Command,  # noqa: F811
    store: Path,
    nightly: Runs,
    job: Path,
) -> None:
    with sqlite3.connect(store) as db:
        db.execute("CREATE TRIGGER refuse BEFORE INSERT ON suggestion BEGIN SELECT RAISE(ABORT, 'no room here'); END")
    run = pyrometer("suggest", "--app", "nightly", "-s", f"sqlite:{store}", "--", job, "etl.py")
    assert run.returncode == 7 and run.stdout.splitlines() == ["--conf", "spark.executor.instances=5", "etl.py"]
    assert "does not keep the suggestion" in run.stderr and "no room here" in run.stderr


def test_the_airflow_example_of_the_page(
    pyrometer: Command,  # noqa: F811
    store: Path,
    nightly: Runs,
    job: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The code of the page, with an operator that does what Airflow's does: run the command in bash."""
    page = (ROOT / "docs" / "cli" / "suggest.md").read_text(encoding="utf-8")
    code = textwrap.dedent(page[page.index("    from airflow") : page.index("## Exit status")])
    code = code.replace("sqlite:/var/lib/pyrometer/runs.db", f"sqlite:{store}").replace("nightly-etl", "nightly")
    found = []

    class BashOperator:
        """Keeps what the task prints."""

        def __init__(self, task_id: str, bash_command: str) -> None:
            folder = job.parent / "bin"
            folder.mkdir()
            (folder / "spark-submit").symlink_to(job)
            (folder / "pyrometer").symlink_to(pyrometer.binary)
            run = subprocess.run(
                ["bash", "-c", bash_command], capture_output=True, text=True, env={"PATH": f"{folder}:/usr/bin:/bin"}, check=False
            )
            found.append((task_id, run.returncode, run.stdout, run.stderr))

    module = types.ModuleType("airflow.operators.bash")
    module.BashOperator = BashOperator  # type: ignore[attr-defined]
    for name in ("airflow", "airflow.operators"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "airflow.operators.bash", module)
    exec(compile(code, "suggest.md", "exec"), {})  # noqa: S102
    assert found == [("nightly_etl", 7, "--conf\nspark.executor.instances=5\netl.py\n", "")]


# ---- Logs ----


def test_the_simulator_predicts_from_recorded_logs(pyrometer: Command, store: Path) -> None:  # noqa: F811
    """All runs are the recorded one with its log; the simulator knows other numbers of executors."""
    with sqlite3.connect(store) as db:
        name, app_id, duration = db.execute("SELECT application, app_id, duration_ms FROM run").fetchone()
        report = json.loads(db.execute("SELECT json FROM reports").fetchone()[0])
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("DELETE FROM run")
    runs = Runs(store, name)
    executors, cores = len(report["executors"]), report["executors"][0]["cores"]
    for i in range(6):
        runs.add(Made(executors, cores, 1, duration_ms=duration + i, path=str(LOG)))
    # The log is of one application; the store says that all of them are.
    with sqlite3.connect(store) as db:
        db.execute("UPDATE run SET app_id = ?, attempt = key", (app_id,))
    document = ask(pyrometer, store, "--app", name)
    check(document, "pyrometer.suggestion-1.json")
    assert document["basis"]["model"] == "simulator" and document["basis"]["error"] < 0.05
    assert abs(document["current"]["wall_ms"]["expected"] / duration - 1) < 0.05
    without = ask(pyrometer, store, "--app", name, "--no-logs")
    assert without["settings"] == {} and any("simulator: a run with a log" in text for text in without["missing"])


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "--app NAME or --all"),
        (["--app", "x", "--all"], "--app NAME or --all"),
        (["--app", "x", "--rollback"], "--review"),
        (["--all", "-f", "spark-submit"], "text or json"),
        (["--all", "--apply", "x"], "--app"),
        (["--all", "--", "true"], "--app"),
    ],
)
def test_wrong_usage(pyrometer: Command, store: Path, arguments: List[str], part: str) -> None:  # noqa: F811
    run = pyrometer("suggest", "-s", f"sqlite:{store}", *arguments)
    assert run.returncode == 2 and part in run.stderr


# ---- Models ----


def test_models_of_an_application(pyrometer: Command, store: Path, nightly: Runs) -> None:  # noqa: F811
    run = pyrometer("fleet", "model", "nightly", f"sqlite:{store}", "-f", "json")
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    check(document, "pyrometer.fleet_model-1.json")
    models = {model["name"]: model for model in document["models"]}
    assert list(models) == ["wave", "ernest", "amdahl", "simulator"] and document["best"] == "wave"
    assert models["wave"]["coefficients"] == pytest.approx({"s_ms": 10000, "w_ms": 60000})
    assert models["wave"]["error"] == pytest.approx(0, abs=1e-9) and models["wave"]["predictions"] == 21
    assert models["amdahl"]["error"] > 0.01 and models["simulator"]["missing"] == "a run with a log that can be read"
    text = pyrometer("fleet", "model", "-a", "nightly", "-s", f"sqlite:{store}").stdout
    assert "(best)" in text and "simulator  needs a run with a log" in text


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--user", "x"], "--user"),
        (["--since", "30d"], "--since"),
        (["--until", "30d"], "--until"),
        (["--tag", "a=b"], "--tag"),
        (["--max", "duration_ms=1"], "--max"),
        (["--by", "user"], "--by"),
        (["--instance", "m5.xlarge"], "--instance"),
        (["--store", "sqlite:other.db"], "given twice"),
    ],
)
def test_models_refuse_options_of_views(pyrometer: Command, store: Path, arguments: List[str], part: str) -> None:  # noqa: F811
    run = pyrometer("fleet", "model", "nightly", f"sqlite:{store}", *arguments)
    assert run.returncode == 2 and part in run.stderr and run.stdout == ""


def test_models_without_history(pyrometer: Command, store: Path) -> None:  # noqa: F811
    document = json.loads(pyrometer("fleet", "model", "never-seen", f"sqlite:{store}", "-f", "json").stdout)
    check(document, "pyrometer.fleet_model-1.json")
    assert document["best"] is None and all(model["missing"] for model in document["models"])
    assert pyrometer("fleet", "model").returncode == 2
    assert pyrometer("fleet", "model", "a", f"sqlite:{store}", "-f", "csv").returncode == 2
    assert pyrometer("fleet", "usage", f"sqlite:{store}", "more").returncode == 2
