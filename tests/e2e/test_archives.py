"""Archives other than zip: tar, plain and compressed, and 7z, by every way in. What is not a log in them opens nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any, Callable, Dict, List

import cramjam
import pytest

import conftest

MB = 1 << 20
PACKERS: Dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.zst": lambda data: bytes(cramjam.zstd.compress(data)),
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
    "tar.lz4": lambda data: bytes(cramjam.lz4.compress(data)),
}


def log(name: str) -> bytes:
    events = ({"Event": "SparkListenerLogStart", "Spark Version": "3.5.6"},
              {"Event": "SparkListenerApplicationStart", "App Name": name, "App ID": name, "Timestamp": 1, "User": "eve"},
              {"Event": "SparkListenerApplicationEnd", "Timestamp": 9})
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def info(name: str, **fields: Any) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(made, field, value)
    return made


def tar(members: Dict[str, bytes], others: List[tarfile.TarInfo] = [], form: int = tarfile.GNU_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        for name, data in members.items():
            made.addfile(info(name, size=len(data)), io.BytesIO(data))
        for other in others:
            made.addfile(other, io.BytesIO(bytes(other.size)))
    return out.getvalue()


def names(run: conftest.Run) -> List[str]:
    assert run.exit == 0, run.explain()
    document = run.json
    return sorted(report["application"]["id"] for report in document.get("reports", [document]))


@pytest.mark.parametrize("form", PACKERS)
@pytest.mark.parametrize("place", ["file", "folder", "other name"])
def test_logs_of_archives(diagnose: Any, tmp_path: Path, form: str, place: str) -> None:
    """A rolling log, logs with long names, and a compressed one; each is found once."""
    long = f"a/{'folder' * 12}/{'of long names' * 6}"
    members = {f"{long}/log-{i}": log(f"app-{i}") for i in range(3)}
    members.update({"b/log.gz": gzip.compress(log("app-gz")), "b/.hidden": log("hidden"),
                    "c/eventlog_v2_app-r/events_2_app-r": log("app-r").split(b"\n", 2)[2],
                    "c/eventlog_v2_app-r/events_1_app-r": b"\n".join(log("app-r").split(b"\n", 2)[:2]) + b"\n"})
    path = tmp_path / ("logs" if place == "other name" else f"logs.{form}")
    for version in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT):
        path.write_bytes(PACKERS[form](tar(members, form=version)))
        found = names(diagnose(tmp_path if place == "folder" else path))
        assert found == ["app-0", "app-1", "app-2", "app-gz", "app-r"]


def test_reports_are_those_of_the_file(diagnose: Any, tmp_path: Path) -> None:
    plain = conftest.ROOT / "corpus" / "logs" / "healthy_sql.zst"
    expected = diagnose(plain).json
    for form, pack in PACKERS.items():
        path = tmp_path / f"one.{form}"
        path.write_bytes(pack(tar({"log.zst": plain.read_bytes()})))
        found = diagnose(path).json
        assert found["totals"] == expected["totals"] and found["findings"] == expected["findings"]


def test_text_logs_of_archives(binary: str, tmp_path: Path) -> None:
    line = b"26/03/01 10:15:%02d ERROR Executor: Exception in task %d.0 in stage 0.0 (TID %d)\njava.lang.IllegalStateException: no %d\n"
    members = {f"executor-{i}/stderr": line % (i, i, i, i) for i in range(30)}
    for form in ("tar", "tar.gz"):
        (tmp_path / f"logs.{form}").write_bytes(PACKERS[form](tar(members)))
        run = conftest.run_command([binary, "logs", "errors", "--format", "json", str(tmp_path / f"logs.{form}")])
        assert run.exit == 0 and run.json["files"] == 30, run.explain()


RUNS = [conftest.ROOT / "tests" / "artefacts" / folder for folder in ("gc/serial", "gc/g1", "logs/spark35")]


def profiling(report: Any) -> Any:
    """What was read of the other files of a run; they may be named in another order."""
    made = report["profiling"]
    rows = sorted((row["path"].replace("!", "/").rsplit("/", 1)[-1], row["executor"], row["records"], row["problems"]) for row in made["artefacts"])
    return rows, sorted(made["gc_pauses"], key=str)


@pytest.mark.parametrize("form", ["tar", "tar.gz"])
def test_other_files_of_a_run_are_read_with_its_event_log(diagnose: Any, tmp_path: Path, form: str) -> None:
    """As of the folder; also of several archives whose members have the same names."""
    runs = [run for run in RUNS if run.is_dir()]
    assert len(runs) > 1
    paths = []
    for number, run in enumerate(runs):
        files = {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}
        paths.append(tmp_path / f"{number}.{form}")
        paths[-1].write_bytes(PACKERS[form](tar(files)))
    expected = diagnose(*runs).json["reports"]
    found = diagnose(*paths)
    assert found.exit == 0 and found.json["unreadable"] == [], found.explain()
    assert [one["application"]["id"] for one in found.json["reports"]] == [one["application"]["id"] for one in expected]
    for one, other in zip(found.json["reports"], expected):
        assert profiling(one) == profiling(other) and one["totals"] == other["totals"]


def test_files_without_an_id_belong_to_the_nearest_event_log(diagnose: Any, tmp_path: Path) -> None:
    line = "[2026-01-01T00:00:0%d.000+0000][1.000s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 9M->5M(64M) %d.000ms\n"
    members = {}
    for number in (1, 2):
        members[f"{number}/events"] = log(f"app-{number}").replace(b'"Timestamp": 1,', b'"Timestamp": 1767225600000,')
        members[f"{number}/memory.gc"] = (line % (number, number * 10)).encode()
    (tmp_path / "both.tar").write_bytes(tar(members))
    reports = {one["application"]["id"]: one for one in diagnose(tmp_path / "both.tar").json["reports"]}
    assert [reports[f"app-{n}"]["profiling"]["gc_pauses"][0]["total_ms"] for n in (1, 2)] == [10, 20]


def test_links_and_devices_open_nothing(diagnose: Any, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(log("secret"))
    others = [info("link", type=tarfile.SYMTYPE, linkname=str(tmp_path / "secret")),
              info("hard", type=tarfile.LNKTYPE, linkname=str(tmp_path / "secret")),
              info("hard2", type=tarfile.LNKTYPE, linkname="/abs/log"),
              info("pipe", type=tarfile.FIFOTYPE), info("device", type=tarfile.CHRTYPE, devmajor=1, devminor=5)]
    members = {"/abs/log": log("app-0"), "../../up/log": log("app-1")}
    for form in ("tar", "tar.gz"):
        (tmp_path / f"x.{form}").write_bytes(PACKERS[form](tar(members, others)))
        assert names(diagnose(tmp_path / f"x.{form}")) == ["app-0", "app-1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "x.tar", "x.tar.gz"]


def test_the_last_of_equal_names_counts(diagnose: Any, tmp_path: Path) -> None:
    data = log("app-1")
    whole = tar({"log": log("app-0"), "z": log("app-2")})
    out = io.BytesIO(whole)
    with tarfile.open(fileobj=out, mode="a") as made:
        made.addfile(info("log", size=len(data)), io.BytesIO(data))
    for form in ("tar", "tar.gz"):
        (tmp_path / form).write_bytes(PACKERS[form](out.getvalue()))
        assert names(diagnose(tmp_path / form)) == ["app-1", "app-2"]


@pytest.mark.parametrize("form", PACKERS)
def test_damage(diagnose: Any, tmp_path: Path, form: str) -> None:
    """Whatever is cut off or changed: an answer or a reason, and what is read is in the archive."""
    members = {f"log{i}": log(f"app-{i}") for i in range(3)}
    good = PACKERS[form](tar(members))
    path = tmp_path / f"a.{form}"
    for k in range(1, 12):
        path.write_bytes(good[: len(good) * k // 12])
        run = diagnose(path)
        assert run.exit in (0, 3) and not run.timed_out, run.explain()
        changed = bytearray(good)
        changed[len(good) * k // 13] ^= 0x40
        path.write_bytes(bytes(changed))
        run = diagnose(path)
        assert run.exit in (0, 3) and not run.timed_out, run.explain()


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_all_that_is_before_a_cut_is_read(diagnose: Any, tmp_path: Path, share: float) -> None:
    """Members that are decompressed give their bytes up to the cut, not only blocks that were filled."""
    numbers = random.Random(7)
    rows = b"".join(b'{"Event":"SparkListenerUnpersistRDD","RDD ID":%d}\n' % numbers.randrange(10**9) for _ in range(40000))
    events = log("app").splitlines(keepends=True)
    data = b"".join([*events[:-1], rows, events[-1]])
    packed = zlib.compressobj(wbits=-15)
    stream = packed.compress(data) + packed.flush()
    cut = int(len(stream) * share)
    inflated = zlib.decompressobj(wbits=-15).decompress(stream[:cut])
    assert 300_000 < len(inflated) < len(data)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("log", data)
    whole = out.getvalue()
    head = 30 + len("log")
    assert whole[head : head + len(stream)] == stream
    (tmp_path / "a.zip").write_bytes(whole[: head + cut])
    packed_tar = gzip.compress(tar({"log": data}))
    (tmp_path / "a.tar.gz").write_bytes(packed_tar[: int(len(packed_tar) * share)])
    for name, least in (("a.zip", len(inflated)), ("a.tar.gz", len(data) * share - 80_000)):
        integrity = diagnose(tmp_path / name).json["integrity"]
        assert least <= integrity["bytes"] < len(data) and integrity["truncated"], name
        assert "archive is damaged" in integrity["notes"][0], integrity["notes"]
    assert "a member ends early" in diagnose(tmp_path / "a.zip").json["integrity"]["notes"][0]


def test_bombs(diagnose: Any, tmp_path: Path) -> None:
    """One that says so, one in a chain of compressors, one that is a hole."""
    path = tmp_path / "bomb.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=9) as made:
        made.addfile(info("log", size=len(log("a"))), io.BytesIO(log("a")))
        made.addfile(info("zeros", size=100 * MB), open("/dev/zero", "rb"))
    run = diagnose(path)
    assert run.exit == 3 and b"decompresses to more than" in run.err, run.explain()
    path.write_bytes(gzip.compress(gzip.compress(tar({"log": log("a")}))))
    run = diagnose(path)
    assert run.exit == 3, run.explain()


def test_many_members(diagnose: Any, tmp_path: Path) -> None:
    """Each is read once: a compressed archive is unpacked while it is listed."""
    members = {f"log{i}": log(f"app-{i}") for i in range(2000)}
    for form in ("tar", "tar.gz"):
        path = tmp_path / f"many.{form}"
        path.write_bytes(PACKERS[form](tar(members)))
        assert len(names(diagnose(path))) == 2000
    path.write_bytes(gzip.compress(tar({f"log{i}": b"" for i in range(10001)}), 1))
    run = diagnose(path)
    assert run.exit == 3 and b"more than 10000 files" in run.err


def test_archives_through_pipes(binary: str, tmp_path: Path) -> None:
    for form, pack in PACKERS.items():
        path = tmp_path / form
        path.write_bytes(pack(tar({"log": log("a"), "log2": log("b")})))
        with path.open("rb") as stream:
            run = conftest.run_command([binary, "diagnose", "-"], stdin=stream)
        assert run.exit == 3 and (b"is a tar archive" in run.err or b"read for tar archives only" in run.err), run.explain()


def test_archives_in_archives(diagnose: Any, tmp_path: Path) -> None:
    for form, pack in PACKERS.items():
        (tmp_path / "outer.tar").write_bytes(tar({"inner": pack(tar({"log": log("a")}))}))
        run = diagnose(tmp_path / "outer.tar")
        assert run.exit == 3 and (b"inside an archive" in run.err or b"tar archives only" in run.err), (form, run.explain())


def test_seven_zip(diagnose: Any, tmp_path: Path) -> None:
    """By the tools that can be had; libarchive's own bsdtar is one."""
    for i in range(3):
        (tmp_path / f"log{i}").write_bytes(log(f"app-{i}"))
    path = tmp_path / "logs.7z"
    files = [f"log{i}" for i in range(3)]
    for command in (["7z", "a", "-bd", str(path), *files], ["7zz", "a", str(path), *files], ["bsdtar", "-a", "-cf", str(path), *files]):
        if shutil.which(command[0]):
            run = conftest.run_command(["sh", "-c", f"cd {tmp_path} && " + " ".join(command)])
            assert run.exit == 0, run.explain()
            break
    else:
        pytest.skip("neither 7z nor bsdtar")
    assert names(diagnose(path)) == ["app-0", "app-1", "app-2"]
