"""`pyro_table_export()`: what nanoarrow reads of each table is what `pyrometer sql` answers."""

from __future__ import annotations

import csv
import ctypes
import io
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import pytest
from conftest import ROOT, binary_path, corpus_logs, run_command

nanoarrow = pytest.importorskip("nanoarrow")
c_stream = pytest.importorskip("nanoarrow.c_array_stream")

HEADER = (ROOT / "include" / "pyrometer.h").read_text(encoding="utf-8")
BATCH_ROWS = 65536
WANTED = 1 << 0 | 1 << 1  # PYRO_WANT_PLAN_TEXT, PYRO_WANT_TASK_METRICS: as the verb sql reads a log
ERROR_ARGUMENT = 1
LOGS = [
    next((ROOT / "tests" / "logs" / "versions").glob(f"{name}/*"))
    for name in ("spark-4.3.0-connect", "spark-4.3.0-streaming")
]
CORPUS = ("data_skew", "disk_spill", "driver_plans", "job_failed_udf", "straggler_repaired")


class Error(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("code", ctypes.c_int),
        ("lasting", ctypes.c_int),
        ("offset", ctypes.c_uint64),
        ("path", ctypes.c_char * 512),
        ("message", ctypes.c_char * 1024),
    ]


class LoadOptions(ctypes.Structure):
    """The beginning of struct pyro_load_options, as a program has it that knows no more of it."""

    _fields_ = [("size", ctypes.c_size_t), ("max_record_bytes", ctypes.c_uint64), ("wanted", ctypes.c_uint32)]


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    path = binary_path().parent / "libpyrometer.so"
    if not path.is_file():
        pytest.skip(f"there is no {path.name} beside the command")
    if re.search(rb"__[at]san_init", path.read_bytes()):
        pytest.skip("a library with sanitizers cannot be loaded into Python")
    loaded = ctypes.CDLL(str(path))
    loaded.pyro_version.restype = ctypes.c_char_p
    for name in ("pyro_app_release", "pyro_inputs_close"):
        getattr(loaded, name).argtypes = [ctypes.c_void_p]
    return loaded


def fresh_error() -> Error:
    return Error(size=ctypes.sizeof(Error))


class App:
    """A loaded application."""

    def __init__(self, log: Path) -> None:
        inputs, self.handle, error = ctypes.c_void_p(), ctypes.c_void_p(), fresh_error()
        paths = (ctypes.c_char_p * 1)(str(log).encode())
        load = LoadOptions(size=LoadOptions.wanted.offset + 4, wanted=WANTED)
        status = library().pyro_inputs_open(
            paths, ctypes.c_size_t(1), None, None, ctypes.byref(inputs), ctypes.byref(error)
        )
        assert status == 0, error.message
        status = library().pyro_app_load(
            inputs, ctypes.c_size_t(0), ctypes.byref(load), None, ctypes.byref(self.handle), ctypes.byref(error)
        )
        library().pyro_inputs_close(inputs)
        assert status == 0, error.message

    def release(self) -> None:
        library().pyro_app_release(self.handle)
        self.handle = ctypes.c_void_p()

    def export(self, table: str, columns: Optional[Sequence[str]] = None) -> Tuple[int, Any, str]:
        """Status, stream and message."""
        stream, error = c_stream.allocate_c_array_stream(), fresh_error()
        names = (ctypes.c_char_p * len(columns))(*[name.encode() for name in columns]) if columns is not None else None
        status = library().pyro_table_export(
            self.handle,
            table.encode(),
            names,
            ctypes.c_size_t(len(columns or ())),
            None,
            ctypes.c_void_p(stream._addr()),
            ctypes.byref(error),
        )
        return status, stream, error.message.decode()

    def table(self, table: str, columns: Optional[Sequence[str]] = None) -> Any:
        status, stream, message = self.export(table, columns)
        assert status == 0, message
        return nanoarrow.ArrayStream(stream)


@pytest.fixture
def app_of() -> Iterator[Any]:
    apps: List[App] = []

    def load(log: Path) -> App:
        apps.append(App(log))
        return apps[-1]

    yield load
    for app in apps:
        app.release()


def sql(log: Path, statement: str) -> List[Dict[str, Any]]:
    run = run_command([str(binary_path()), "sql", str(log), statement, "--format", "json"])
    assert run.exit == 0, run.explain()
    return run.json


def tables_of(log: Path) -> List[str]:
    return [row["name"] for row in sql(log, "SELECT name FROM sqlite_schema WHERE type = 'table'")]


def rows_of(stream: Any) -> List[Dict[str, Any]]:
    names = [field.name for field in stream.schema.fields]
    return [dict(zip(names, row)) for row in stream.iter_tuples()]


def check_every_table(app: App, log: Path) -> int:
    tables = tables_of(log)
    assert len(tables) > 10
    cells = 0
    for table in tables:
        found, expected = rows_of(app.table(table)), sql(log, f"SELECT * FROM {table}")
        assert len(found) == len(expected), table
        for number, (left, right) in enumerate(zip(found, expected)):
            assert left == right, (table, number)
            assert list(left) == list(right)
            cells += len(left)
    return cells


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.parent.name)
def test_every_value_is_that_of_sql(app_of: Any, log: Path) -> None:
    assert check_every_table(app_of(log), log) > 1000


@pytest.mark.parametrize("log", corpus_logs(CORPUS))
def test_corpus_is_as_sql_says(app_of: Any, log: Path) -> None:
    assert check_every_table(app_of(log), log) > 1000


def event(name: str, **members: Any) -> str:
    return json.dumps({"Event": name, **members}, separators=(",", ":")) + "\n"


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More tasks than two batches hold."""
    path = tmp_path_factory.mktemp("arrow") / "long"
    info = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 2 * BATCH_ROWS + 5}
    with path.open("w", encoding="utf-8") as file:
        file.write(event("SparkListenerLogStart", **{"Spark Version": "3.5.0"}))
        start = {"App Name": "n", "App ID": "a", "Timestamp": 1, "User": "u"}
        file.write(event("SparkListenerApplicationStart", **start))
        file.write(event("SparkListenerStageSubmitted", **{"Stage Info": {**info, "Submission Time": 1}}))
        for task in range(2 * BATCH_ROWS + 5):
            file.write(
                event(
                    "SparkListenerTaskEnd",
                    **{
                        "Stage ID": 0,
                        "Stage Attempt ID": 0,
                        "Task Type": "ResultTask",
                        "Task End Reason": {"Reason": "Success"},
                        "Task Info": {
                            "Task ID": task,
                            "Index": task,
                            "Attempt": 0,
                            "Launch Time": 1 + task,
                            "Executor ID": str(task % 7),
                            "Host": f"host-{task % 3}",
                            "Locality": "ANY",
                            "Finish Time": 10 + 2 * task,
                        },
                    },
                )
            )
    return path


def test_batches_of_64_ki_rows(app_of: Any, long_log: Path) -> None:
    chunks = list(app_of(long_log).table("tasks", ["id", "executor"]).iter_chunks())
    assert [len(chunk) for chunk in chunks] == [BATCH_ROWS, BATCH_ROWS, 5]
    rows = [row for chunk in chunks for row in chunk.iter_tuples()]
    assert rows == [(task, str(task % 7)) for task in range(2 * BATCH_ROWS + 5)]


def test_sums_of_long_tables(app_of: Any, long_log: Path) -> None:
    columns = ["id", "launch_ms", "finish_ms"]
    sums = ", ".join(f"sum({name}) AS {name}" for name in columns)
    (expected,) = sql(long_log, f"SELECT {sums}, count(*) AS n FROM tasks")
    rows = list(app_of(long_log).table("tasks", columns).iter_tuples())
    assert expected.pop("n") == len(rows)
    assert {name: sum(row[i] for row in rows) for i, name in enumerate(columns)} == expected


def test_columns_in_the_order_wanted(app_of: Any) -> None:
    app = app_of(LOGS[0])
    stream = app.table("stages", ["status", "id", "submitted_ms", "id"])
    fields = stream.schema.fields
    assert [field.name for field in fields] == ["status", "id", "submitted_ms", "id"]
    assert [str(field.type) for field in fields] == ["Type.STRING", "Type.INT64", "Type.INT64", "Type.INT64"]
    assert dict(fields[2].metadata.items()) == {b"unit": b"ms", b"doc": b"Submission time"}
    assert b"unit" not in dict(fields[0].metadata.items())
    assert b"stage" in dict(stream.schema.metadata.items())[b"doc"].lower()
    expected = sql(LOGS[0], "SELECT status, id, submitted_ms FROM stages")
    wanted = [(row["status"], row["id"], row["submitted_ms"], row["id"]) for row in expected]
    assert list(stream.iter_tuples()) == wanted


def test_stream_keeps_the_application(app_of: Any) -> None:
    app = app_of(LOGS[0])
    stream = app.table("properties")
    app.release()
    assert rows_of(stream) == sql(LOGS[0], "SELECT * FROM properties")


@pytest.mark.parametrize("rows", ["tasks", "stages"])
def test_features_are_those_of_the_csv(app_of: Any, rows: str) -> None:
    log = LOGS[0]
    run = run_command([str(binary_path()), "export", str(log), "--features", rows])
    assert run.exit == 0, run.explain()
    expected = [
        {name: json.loads(value) if value else None for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(run.out.decode()))
    ]
    app = app_of(log)
    stream, error = c_stream.allocate_c_array_stream(), fresh_error()
    status = library().pyro_features_export(
        app.handle, ["tasks", "stages"].index(rows), None, ctypes.c_void_p(stream._addr()), ctypes.byref(error)
    )
    assert status == 0, error.message
    app.release()  # the stream keeps it
    found = nanoarrow.ArrayStream(stream)
    assert all({b"doc"} <= set(dict(field.metadata.items())) for field in found.schema.fields)
    assert expected and rows_of(found) == expected
    status = library().pyro_features_export(app_of(log).handle, 2, None, ctypes.c_void_p(stream._addr()), ctypes.byref(error))
    assert status == ERROR_ARGUMENT


def test_unknown_names(app_of: Any) -> None:
    app = app_of(LOGS[0])
    status, _, message = app.export("stage")
    assert (status, message) == (ERROR_ARGUMENT, "there is no table 'stage'; did you mean 'stages'?")
    status, _, message = app.export("stages", ["id", "namme"])
    assert (status, message) == (ERROR_ARGUMENT, "the table stages has no column 'namme'; did you mean 'name'?")


def test_header_and_library_are_of_one_version() -> None:
    said = [re.search(rf"^#define PYRO_VERSION_{part} (\d+)$", HEADER, re.M) for part in ("MAJOR", "MINOR", "PATCH")]
    assert ".".join(part[1] for part in said if part) == library().pyro_version().decode()
