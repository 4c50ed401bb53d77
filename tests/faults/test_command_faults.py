"""One call of the command fails: memory, files, threads. What comes of it is the same answer or a clear error, and
nothing of it stays behind."""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence

import pytest
from faults import SHORT, Command, Fault, Outcome, chosen, judge, library

import conftest

ROOT = conftest.ROOT
SMALLEST = ROOT / "corpus" / "logs" / "idle_narrow.zst"

pytestmark = pytest.mark.skipif(library() is None, reason="this build has no library that lets calls fail")


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    yield Command(tmp_path)


def run_all(command: Command, arguments: Sequence[object], most: int) -> None:
    good = command.run(arguments)
    assert good.exit == 0, good.err
    wrong: List[str] = []
    for fault in chosen(command.control.calls(), most):
        why = judge(fault, command.run(arguments, fault), good)
        if why and "Fatal Internal Error in libarchive" not in why:  # it ends the process itself: docs/serve.md
            wrong.append(why)
        wrong += [f"{fault} leaves {name} behind" for name in command.left_behind()]
    assert not wrong, "\n".join(wrong)


# On one thread, so that the n-th call is the same one in each run.
@pytest.mark.parametrize(
    "arguments,most",
    [
        (["diagnose", "--threads", "1", "-f", "json", SMALLEST], 120),
        (["diagnose", "--threads", "1", "-f", "html", SMALLEST], 12),
        (["diagnose", "--threads", "2", SMALLEST], 12),
        (["sql", SMALLEST, "SELECT name, tasks FROM stages ORDER BY 1"], 40),
        (["whatif", SMALLEST, "--executors", "4", "-f", "json"], 12),
        (["export", SMALLEST, "--anonymized"], 25),
        (["compare", SMALLEST, ROOT / "corpus" / "logs" / "skew_rdd.zst", "-f", "json"], 12),
    ],
    ids=lambda value: value[0] + value[2][-4:] if isinstance(value, list) and value[0] == "diagnose" else None,
)
def test_an_answer_or_an_error(command: Command, arguments: List[object], most: int) -> None:
    run_all(command, arguments, most)


LARGE = ROOT / "corpus" / "logs" / "coalesce_off.zst"  # enough tasks for rules and simulations on several threads


@pytest.mark.parametrize(
    "arguments",
    [
        ["diagnose", "-f", "json", LARGE],
        ["whatif", LARGE, "--sweep", "executors=1..4"],
        ["compare", LARGE, SMALLEST],
        ["feedback", LARGE, "--missed", "disk-spill"],
    ],
    ids=lambda arguments: " ".join(arguments[i] for i in (0, 2) if isinstance(arguments[i], str)),
)
def test_one_thread_is_one(command: Command, arguments: List[object], tmp_path: Path) -> None:
    store = ["--store", f"sqlite:{tmp_path / 'runs.db'}"] if arguments[0] == "feedback" else []
    several = command.run([*arguments, *store, "--threads", "3"])
    assert several.exit == 0 and command.control.calls()["thread"] > 0, several.err
    alone = command.run([*arguments, *store, "--threads", "1"])
    assert alone.exit == 0 and command.control.calls()["thread"] == 0, alone.err
    assert alone.out == several.out


@pytest.mark.parametrize("codec", ["lz4-single", "lzf-single", "snappy-single", "zip"])
def test_every_codec(command: Command, codec: str, tmp_path: Path) -> None:
    if codec == "zip":
        log = tmp_path / "log.zip"
        import zipfile

        with zipfile.ZipFile(log, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(SMALLEST, "app.zst")
    else:
        folder = ROOT / "tests" / "logs" / "codecs" / codec
        log = next(path for path in sorted(folder.rglob("*")) if path.is_file())
    run_all(command, ["diagnose", "--threads", "1", "-f", "json", log], 20)


def test_a_file_is_replaced_whole_or_not_at_all(command: Command, tmp_path: Path) -> None:
    target = tmp_path / "out" / "report.json"
    target.parent.mkdir()
    target.write_text("before")
    arguments = ["diagnose", "--threads", "1", "-f", "json", "-o", target, SMALLEST]
    good = command.run(arguments)
    calls, whole = command.control.calls(), target.read_bytes()
    assert good.exit == 0 and json.loads(whole)
    for fault in chosen({**dict.fromkeys(calls, 0), **{k: calls[k] for k in ("write", "rename", "make", "unlink", "sync")}}, 50):
        target.write_text("before")
        got = command.run(arguments, fault)
        assert judge(fault, got, good) is None, judge(fault, got, good)
        assert target.read_bytes() == (whole if got.exit == 0 else b"before"), str(fault)
        assert [path.name for path in target.parent.iterdir()] == ["report.json"], str(fault)


# ---- Stores ----


def rows(store: Path) -> Dict[str, object]:
    with sqlite3.connect(store) as db:  # which undoes what was left unfinished
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {
            name: db.execute(f"SELECT {what} FROM {name} ORDER BY 1, 2, 3").fetchall()
            for name, what in {
                "runs": "app_id, attempt, name",
                "reports": "app_id, attempt, json",
                "findings": "app_id, id, rule",
                "aggregates": "app_id, name, value",
                "raw": "app_id, attempt, json_extract(json, '$.stages')",
                "properties": "app_id, key, value",
                "usage": "app_id, start_ms, core_ms",
                "feedback": "application, finding, verdict",
            }.items()
        }


def store_faults(command: Command, most: int) -> Iterator[Fault]:
    yield from chosen(command.control.calls(), most)


def check_store(got: Outcome, good: Outcome, fault: Optional[Fault]) -> Optional[str]:
    """A run is kept, or its report is printed with exit 4 and the line that says why it was not, or there is an error."""
    if got.exit == 4 and got.out:
        report = json.loads(got.out)
        notes = report["integrity"]["notes"]
        report["integrity"]["notes"] = [note for note in notes if "feedback on earlier" not in note]
        if report != json.loads(good.out):
            return f"{fault}: another report"
        return None if got.err.startswith("pyrometer: ") else f"{fault}: no line: {got.err!r}"
    return judge(fault, got, good) if fault else None


@pytest.mark.parametrize("first", [True, False], ids=["new", "again"])
def test_a_run_is_stored_whole_or_not_at_all(command: Command, tmp_path: Path, first: bool) -> None:
    store, kept = tmp_path / "runs.db", tmp_path / "kept.db"
    arguments = ["diagnose", "--threads", "1", "-f", "json", "--store", f"sqlite:{store}", SMALLEST]
    good = command.run(arguments)
    calls = command.control.calls()
    assert good.exit == 0, good.err
    whole = rows(store)
    shutil.copy(store, kept)
    wrong: List[str] = []
    for fault in chosen(calls, 60 if first else 40):
        for file in tmp_path.glob("runs.db*"):
            file.unlink()
        if not first:
            shutil.copy(kept, store)
        got = command.run(arguments, fault)
        wrong += [why for why in [check_store(got, good, fault)] if why]
        there = rows(store) if store.exists() and store.stat().st_size and has_tables(store) else None
        expected = (whole,) if not first or got.exit == 0 else (whole, None, {name: [] for name in whole})
        if there not in expected:
            wrong.append(f"{fault}: exit {got.exit}, the store holds something else")
        again = command.run(arguments)  # the next one finds nothing in its way
        if again.exit or rows(store) != whole:
            wrong.append(f"{fault}: afterwards exit {again.exit} {again.err!r}")
        wrong += [f"{fault} leaves {name} behind" for name in command.left_behind()]
        wrong += [f"{fault} leaves {file.name} behind" for file in tmp_path.glob("runs.db?*")]
    assert not wrong, "\n".join(wrong)


def has_tables(store: Path) -> bool:
    with sqlite3.connect(store) as db:
        return db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] > 0


def test_a_full_disk_costs_what_is_kept_and_not_the_report(command: Command, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    arguments = ["diagnose", "--threads", "1", "-f", "json", "--store", f"sqlite:{store}", SMALLEST]
    good = command.run(arguments)
    writes = command.control.calls()["write"]
    for number in (0, 3, writes // 2):
        got = command.run(arguments, Fault("write", errno.ENOSPC, number), times=1 << 20)
        assert (got.exit, got.out) == (4, good.out), (number, got.exit, got.err)
        assert got.err.startswith(f"pyrometer: cannot write {store}: the store cannot be ") and got.err.count("\n") == 1


def test_a_damaged_store_is_left_as_it_is(command: Command, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    arguments = ["diagnose", "--store", f"sqlite:{store}", SMALLEST]
    assert command.run(arguments).exit == 0
    whole = store.read_bytes()
    with sqlite3.connect(store) as db:  # a page of a table, not of a text, in which any bytes might be right
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'aggregate'").fetchone()
    half = (page - 1) * 4096
    damages = [
        b"no store at all" * 300,
        whole[:100] + bytes(3996) + whole[4096:],
        whole[:half] + bytes(4096) + whole[half + 4096 :],
        whole[:half] + b"\xff" * 4096 + whole[half + 4096 :],
        whole[: half + 1000],
    ]
    for damage in damages:
        store.write_bytes(damage)
        for verb in (arguments, ["feedback", "x", "--verdict", "confirmed", "--store", f"sqlite:{store}"]):
            got = command.run(verb)
            assert got.exit == 3 and "the store is damaged" in got.err and str(store) in got.err, got
            assert store.read_bytes() == damage
        assert sorted(path.name for path in tmp_path.glob("runs.db*")) == ["runs.db"]


def test_feedback_is_kept_once_or_not_at_all(command: Command, tmp_path: Path) -> None:
    store, kept = tmp_path / "runs.db", tmp_path / "kept.db"
    report = json.loads(command.run(["diagnose", "-f", "json", "--store", f"sqlite:{kept}", SMALLEST]).out)
    finding = report["findings"][0]["id"]
    arguments = ["feedback", finding, "--verdict", "confirmed", "--store", f"sqlite:{store}"]
    shutil.copy(kept, store)
    good = command.run(arguments)
    calls = command.control.calls()
    for fault in chosen(calls, 30):
        shutil.copy(kept, store)
        got = command.run(arguments, fault)
        assert judge(fault, got, good) is None, judge(fault, got, good)
        assert len(rows(store)["feedback"]) == (1 if got.exit == 0 else 0), str(fault)


def test_all_of_a_kind_fail(command: Command) -> None:
    """Not one call, but every one from some on."""
    arguments = ["diagnose", "--threads", "2", "-f", "json", SMALLEST]
    good = command.run(arguments)
    calls = command.control.calls()
    for kind, error in (("allocate", errno.ENOMEM), ("open", errno.EMFILE), ("read", errno.EIO), ("thread", errno.EAGAIN)):
        for number in {0, calls[kind] // 2}:
            fault = Fault(kind, error, number)
            got = command.run(arguments, fault, times=1 << 20)
            assert judge(fault, got, good) is None, judge(fault, got, good)
    halves = command.run(arguments, Fault("read", -SHORT, 0), times=1 << 20)
    assert (halves.exit, halves.out) == (0, good.out)




@pytest.mark.parametrize("view", ["usage", "runs", "waste", "adoption", "compare"])
def test_views_of_a_store(command: Command, tmp_path: Path, view: str) -> None:
    store = tmp_path / "runs.db"
    for name in ("idle_narrow", "skew_rdd"):
        log = ROOT / "corpus" / "logs" / f"{name}.zst"
        assert command.run(["diagnose", "--threads", "1", "--brief", "--store", f"sqlite:{store}", log]).exit == 0
    with sqlite3.connect(store) as db:  # two versions of one application
        db.execute("UPDATE run SET application = 'etl', status = 'completed', version = CASE name WHEN 'skew_rdd' THEN '2' ELSE '1' END")
    options = ["--app", "etl"] if view in ("runs", "compare") else ["--by", "user"] if view == "usage" else []
    run_all(command, ["fleet", view, f"sqlite:{store}", "-f", "json", *options], 15)
