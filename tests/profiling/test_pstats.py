"""Profiles of Python's cProfile, against Python's own reading of them."""

from __future__ import annotations

import cProfile
import marshal
import random
from pathlib import Path
from typing import Any, Dict, List

import pytest

from sinks_kit import sql, sql_run, unpack

ROWS = (
    "SELECT f.file, f.line, f.function, c.file AS caller_file, c.line AS caller_line, c.function AS caller, calls, primitive_calls, "
    "own_ns, total_ns FROM functions JOIN artefacts a ON a.id = artefact JOIN frames f ON f.id = frame "
    "LEFT JOIN frames c ON c.id = functions.caller WHERE a.path LIKE '%/{}'"
)
SAVED = ["rdd_1", "rdd_3", "rdd_5", "udf_1", "udf_1_perf"]
KEY, OTHER = ("a.py", 7, "f"), ("~", 0, "<built-in method len>")
SMALL: Dict[Any, Any] = {KEY: (1, 2, 0.25, 1.5, {OTHER: (1, 2, 0.25, 1.5)}), OTHER: (3, 3, 1e-9, 2, {})}


def expected(stats: Dict[Any, Any]) -> List[List[Any]]:
    def row(key: Any, caller: Any, counts: Any) -> List[Any]:
        primitive, calls, own, total = counts[:4]
        place = [key[0], key[1] or None, key[2]]
        return [*place, *([caller[0], caller[1] or None, caller[2]] if caller else [None] * 3), calls, primitive, round(own * 1e9), round(total * 1e9)]

    found = [row(key, None, counts) for key, counts in stats.items()]
    found += [row(key, caller, counts) for key, value in stats.items() for caller, counts in value[4].items()]
    return sorted(found, key=str)


def read(folder: Path, name: str) -> List[List[Any]]:
    return sorted((list(row.values()) for row in sql(folder, ROWS.format(name))), key=str)


def test_what_spark_dumps(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "rdd_", "udf_")
    for name in SAVED:
        stats = marshal.loads((folder / f"{name}.pstats").read_bytes())
        assert read(folder, f"{name}.pstats") == expected(stats) != []
    assert sql(folder, "SELECT count(*) > 0 AS own FROM frames WHERE file = 'sinks_job.py' AND function = 'digits'") == [{"own": 1}]
    assert sql(folder, "SELECT DISTINCT kind, problems FROM artefacts") == [{"kind": "pstats", "problems": None}]


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_marshal(version: int, tmp_path: Path) -> None:
    folder = unpack(tmp_path, "nothing")
    profile = cProfile.Profile()
    profile.runcall(lambda: sorted(str(i) for i in range(9)))
    profile.create_stats()
    stats = {**SMALL, ("ä.py", 2**20, "long"): (2**40, 2**62 // 1024, 1.0, 2.0, {}), **profile.stats}  # type: ignore[attr-defined]
    (folder / "x.pstats").write_bytes(marshal.dumps(stats, version))
    assert read(folder, "x.pstats") == expected(stats)


def test_texts_of_python_2(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "nothing")

    def text(kind: bytes, value: bytes) -> bytes:
        return kind + len(value).to_bytes(4, "little") + value

    def number(value: int) -> bytes:
        return b"i" + value.to_bytes(4, "little")

    def parts(count: int) -> bytes:
        return b"(" + count.to_bytes(4, "little")

    counts = number(1) + number(1) + b"f\x030.5" + b"f\x041e-3"
    first = parts(3) + text(b"t", b"a.py") + number(7) + text(b"t", b"f")
    second = parts(3) + b"R\0\0\0\0" + number(9) + text(b"s", b"g")
    caller = parts(3) + b"R\0\0\0\0" + number(7) + b"R\1\0\0\0"
    data = b"{" + first + parts(5) + counts + b"{0" + second + parts(5) + counts + b"{" + caller + parts(4) + counts + b"00"
    (folder / "old.prof").write_bytes(data)
    stats = {("a.py", 7, "f"): (1, 1, 0.5, 1e-3, {}), ("a.py", 9, "g"): (1, 1, 0.5, 1e-3, {("a.py", 7, "f"): (1, 1, 0.5, 1e-3)})}
    assert read(folder, "old.prof") == expected(stats)


def test_torn_files_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "rdd_1.")
    path = folder / "rdd_1.pstats"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    rows = read(folder, "rdd_1.pstats")
    assert 0 < len(rows) < len(expected(marshal.loads(whole)))
    assert all(row in expected(marshal.loads(whole)) for row in rows)
    assert sql(folder, "SELECT problems FROM artefacts") == [{"problems": "is damaged or ends early"}]


@pytest.mark.parametrize("code", [b"c", b"<", b">", b"[", b"?", b"x"])
def test_only_numbers_texts_tuples_and_dicts_are_read(code: bytes, tmp_path: Path) -> None:
    """Neither code objects nor sets and lists."""
    folder = unpack(tmp_path, "nothing")
    data = marshal.dumps(SMALL, 2)
    at = data.index(b"i", 1)  # the line of the first function
    (folder / "x.pstats").write_bytes(data[:at] + code + data[at + 1 :])
    assert read(folder, "x.pstats") == []
    assert sql(folder, "SELECT problems FROM artefacts") == [{"problems": "is damaged or ends early"}]


def test_damaged_files_never_crash(tmp_path: Path) -> None:
    folder = unpack(tmp_path, "rdd_1.")
    path = folder / "rdd_1.pstats"
    whole = path.read_bytes()[:1500]
    generator = random.Random(17)
    for _ in range(40):
        damaged = bytearray(whole[: generator.randrange(8, len(whole))])
        for _ in range(generator.randrange(1, 6)):
            damaged[generator.randrange(6, len(damaged))] = generator.randrange(256)
        path.write_bytes(damaged)
        assert sql_run(folder, "SELECT count(*) FROM functions").exit == 0
