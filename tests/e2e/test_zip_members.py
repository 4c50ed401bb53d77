"""Members of zip archives: read from where they lie, however they are stored, and in a time that grows with their number."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any, List, Tuple

import cramjam
import pytest

import conftest

MB = 1 << 20
END = b'{"Event":"SparkListenerApplicationEnd","Timestamp":9}\n'
LOG = conftest.ROOT / "corpus" / "logs" / "healthy_sql.zst"


def start(name: str) -> bytes:
    events = ({"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
              {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": name, "Timestamp": 1, "User": "eve"})
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def names(document: Any) -> List[str]:
    reports = document["reports"] if "reports" in document else [document]
    return sorted(report["application"]["id"] for report in reports)


def whole() -> bytes:
    return bytes(cramjam.zstd.decompress(LOG.read_bytes()))


@pytest.mark.slow
def test_many_members(diagnose: Any, binary: str, tmp_path: Path) -> None:
    """Looking each one up among all before it took minutes."""
    archive = tmp_path / "many.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for i in range(4000):
            made.writestr(f"log{i}", start(f"app-{i}"))
    run = conftest.run_command([binary, "diagnose", "--format", "json", str(archive)], limit_s=60)
    assert run.exit == 0, run.explain()
    assert names(run.json) == sorted(f"app-{i}" for i in range(4000))


METHODS: List[Tuple[str, int]] = [("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED), ("bzip2", zipfile.ZIP_BZIP2),
                                  ("lzma", zipfile.ZIP_LZMA)]


@pytest.mark.parametrize("method", [number for _, number in METHODS], ids=[name for name, _ in METHODS])
@pytest.mark.parametrize("large", [False, True], ids=["zip", "zip64"])
def test_methods(diagnose: Any, tmp_path: Path, method: int, large: bool) -> None:
    plain, archive = tmp_path / "log", tmp_path / "log.zip"
    plain.write_bytes(whole())
    with zipfile.ZipFile(archive, "w", method) as made:
        made.writestr("other", start("other"))
        with made.open("log", "w", force_zip64=large) as member:
            member.write(whole())
        made.comment = b"PK\x05\x06 is no end here " * 20
    expected, found = diagnose(plain), diagnose(archive)
    assert expected.exit == found.exit == 0, found.explain()
    report = next(one for one in found.json["reports"] if one["application"]["id"] != "other")
    assert report["totals"] == expected.json["totals"]
    assert report["integrity"]["lines"] == expected.json["integrity"]["lines"]


class Unseekable(io.RawIOBase):
    """As a server writes one: lengths and checksums follow members."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += data
        return len(data)


def test_streamed_archives(diagnose: Any, tmp_path: Path) -> None:
    out = Unseekable()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for i in range(20):
            made.writestr(f"log{i}", start(f"app-{i:02}"))
    (tmp_path / "log.zip").write_bytes(bytes(out.data))
    run = diagnose(tmp_path / "log.zip")
    assert run.exit == 0 and names(run.json) == [f"app-{i:02}" for i in range(20)]


def test_damage(diagnose: Any, tmp_path: Path) -> None:
    """A checksum that is wrong is reported; a cut archive gives what is in it."""
    data = start("app") + END
    path = tmp_path / "log.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as made:
        made.writestr("first", start("first") + END.replace(b"9", b"7"))
        made.writestr("log", data)
    good = path.read_bytes()
    path.write_bytes(good.replace(b'"Timestamp":9', b'"Timestamp":8'))
    reports = {one["application"]["id"]: one for one in diagnose(path).json["reports"]}
    assert reports["app"]["integrity"]["truncated"] and not reports["first"]["integrity"]["truncated"]
    path.write_bytes(good[: good.index(b"PK\x01\x02")])  # without its directory
    assert names(diagnose(path).json) == ["app", "first"]


def test_the_directory_leads_elsewhere(diagnose: Any, tmp_path: Path) -> None:
    """Records that name offsets beyond the file, or other members' bytes, give damage and no crash."""
    path = tmp_path / "log.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for i in range(3):
            made.writestr(f"log{i}", start(f"app-{i}"))
    good = path.read_bytes()
    at = good.index(b"PK\x01\x02")
    for field in (20, 24, 28, 30, 32, 42):
        for value in (b"\0\0", b"\xff\xff", b"\xff\xff\xff\xff", b"\x10\0"):
            path.write_bytes(good[: at + field] + value + good[at + field + len(value):])
            run = diagnose(path)
            assert run.exit in (0, 3) and not run.timed_out, run.explain()


def test_names_that_are_repeated(diagnose: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("log", start("app-0"))
        with pytest.warns(UserWarning):
            made.writestr("log", start("app-1"))
    run = diagnose(path)
    assert run.exit == 0 and "app-0" in names(run.json)
