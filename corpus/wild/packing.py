"""What surrounds a log: encodings, compressed streams, archives, other logs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from typing import List

import cramjam

from . import spark
from .forms import CRAWL, FILE, FOLDER, NEARLY, PART, REST, UPLOAD, Differs, Files, Form, Refused, Run, Runs, healthy, make_form

FORMS: List[Form] = []
form = make_form(FORMS)
WINDOWS = "PowerShell, Windows"
AS_IT_IS = Run(says=healthy())


def text(app: str) -> bytes:
    return spark.lines(spark.run(app))


@form("byte order mark before a log", WINDOWS, AS_IT_IS)
def byte_order_mark(app: str) -> Files:
    return {app: b"\xef\xbb\xbf" + text(app)}


@form("log in UTF-16, little endian", WINDOWS, AS_IT_IS)
def utf_16_le(app: str) -> Files:
    return {app: b"\xff\xfe" + text(app).decode().encode("utf-16-le")}


@form("log in UTF-16, big endian", WINDOWS, AS_IT_IS)
def utf_16_be(app: str) -> Files:
    return {app: b"\xfe\xff" + text(app).decode().encode("utf-16-be")}


@form("log whose lines end with carriage return and newline", WINDOWS, AS_IT_IS)
def crlf(app: str) -> Files:
    return {app: text(app).replace(b"\n", b"\r\n")}


@form("log in UTF-16 with Windows line ends, compressed with gzip", WINDOWS, AS_IT_IS)
def utf_16_gzip(app: str) -> Files:
    return {f"{app}.gz": gzip.compress(b"\xff\xfe" + text(app).decode().replace("\n", "\r\n").encode("utf-16-le"))}


@form("log in several gzip members", "`cat` of compressed parts, Databricks", AS_IT_IS)
def gzip_members(app: str) -> Files:
    half = len(text(app)) // 2
    return {f"{app}.gz": gzip.compress(text(app)[:half]) + gzip.compress(text(app)[half:])}


@form("compressed log under another name", "copies", AS_IT_IS)
def other_name(app: str) -> Files:
    return {f"{app}.lz4": bytes(cramjam.zstd.compress(text(app)))}


def cut(packed: bytes) -> bytes:
    """Without its last tenth."""
    return packed[: len(packed) * 9 // 10]


def noisy(app: str) -> bytes:
    """A log that does not compress well, so that a part of its bytes has a part of its lines."""
    events = spark.run(app)
    for number, one in enumerate(spark.named(events, "TaskEnd")):
        one["Task Info"]["Accumulables"] = [{"ID": place, "Name": f"{number * 7919 + place * 104729:x}", "Update": "1"} for place in range(200)]
    return spark.lines(events)


CUT = Run(PART, ("bad_lines", "partial", "truncated"), (), {"totals.executors": 2, "core.idle_no_work": 0})


@form("gzip stream without its end", "copies that were stopped", CUT)
def cut_gzip(app: str) -> Files:
    return {f"{app}.gz": cut(gzip.compress(noisy(app)))}


@form("zstd stream without its end", "drivers that were killed, copies that were stopped", CUT)
def cut_zstd(app: str) -> Files:
    return {f"{app}.zstd": cut(bytes(cramjam.zstd.compress(noisy(app))))}


@form("lz4 stream without its end", "copies that were stopped", CUT)
def cut_lz4(app: str) -> Files:
    return {f"{app}.lz4": cut(bytes(cramjam.lz4.compress(noisy(app))))}


@form("lines that are damaged in the middle of a log", "disks, copies as text", Run(PART, ("bad_lines", "replaced_characters"), (), {"totals.tasks": 16}))
def damaged_lines(app: str) -> Files:
    lines = text(app).splitlines(keepends=True)
    return {app: b"".join([*lines[:6], b"\x00\xff\x01 damaged\n", b'{"Event": 7}\n', *lines[6:]])}


@form("blank lines between the events", "copies as text", AS_IT_IS)
def blank_lines(app: str) -> Files:
    return {app: text(app).replace(b"\n", b"\n\n")}


@form("events that are logged twice", "agents that send a file again",
      Run(NEARLY, ("partial", "repeated_events"), (), {"application.duration_ms": 122_500, "totals.tasks": 32, "core.idle_no_work": 0}),
      differs={REST: Differs(Run(says=healthy()), "servers keep one row for each task")})
def twice(app: str) -> Files:
    return {app: text(app) * 2}


def other(app: str) -> bytes:
    """Another run."""
    return text(app.replace("20260101", "20260102"))


@form("two applications in one stream", "`cat a b`, agents that append", Refused("two applications"))
def two_applications(app: str) -> Files:
    return {app: text(app) + other(app)}


@form("two applications in compressed frames of one file", "`cat a.zst b.zst`", Refused("two applications"))
def two_frames(app: str) -> Files:
    return {f"{app}.zst": bytes(cramjam.zstd.compress(text(app))) + bytes(cramjam.zstd.compress(other(app)))}


def tar(files: Files) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def zipped(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


ARCHIVES = (FILE, FOLDER, UPLOAD, CRAWL, REST)  # an archive is neither in an archive nor in a pipe


@form("log in a zip archive", "History Servers, people", AS_IT_IS, ARCHIVES)
def in_zip(app: str) -> Files:
    return {f"{app}.zip": zipped({f"logs/{app}": text(app)})}


@form("log in a tar archive", "people", AS_IT_IS, ARCHIVES)
def in_tar(app: str) -> Files:
    return {f"{app}.tar": tar({f"logs/{app}": text(app)})}


@form("log in a tar archive compressed with gzip", "support cases, `tar czf`", AS_IT_IS, ARCHIVES)
def in_tar_gz(app: str) -> Files:
    return {f"{app}.tar.gz": gzip.compress(tar({f"logs/{app}": text(app)}))}


@form("log in a tar archive compressed with zstd", "`tar --zstd`", AS_IT_IS, ARCHIVES)
def in_tar_zst(app: str) -> Files:
    return {f"{app}.tar.zst": bytes(cramjam.zstd.compress(tar({f"logs/{app}": text(app)})))}


@form("log in a tar archive compressed with bzip2", "`tar cjf`", AS_IT_IS, ARCHIVES)
def in_tar_bz2(app: str) -> Files:
    return {f"{app}.tar.bz2": bz2.compress(tar({f"logs/{app}": text(app)}))}


@form("log in a tar archive compressed with xz", "`tar cJf`", AS_IT_IS, ARCHIVES)
def in_tar_xz(app: str) -> Files:
    return {f"{app}.tar.xz": lzma.compress(tar({f"logs/{app}": text(app)}))}


@form("compressed log in a zip archive", "History Servers", AS_IT_IS, ARCHIVES)
def compressed_in_zip(app: str) -> Files:
    return {f"{app}.zip": zipped({f"{app}.zstd": bytes(cramjam.zstd.compress(text(app)))})}


@form("archive in an archive", "support cases", Refused("archive"), ARCHIVES)
def archive_in_archive(app: str) -> Files:
    return {f"{app}.zip": zipped({"inner.tar": tar({app: text(app)})})}


def number_of_7z(value: int) -> bytes:
    """Numbers of 7z: the first byte says how many follow."""
    if value < 0x80:
        return bytes([value])
    return b"\xff" + struct.pack("<Q", value)


def seven_zip(name: str, data: bytes) -> bytes:
    """One file, stored."""
    size = number_of_7z(len(data))
    names = b"\0" + name.encode("utf-16-le") + b"\0\0"
    packed = b"\x06" + number_of_7z(0) + b"\x01\x09" + size + b"\0"
    unpacked = b"\x07\x0b\x01\0\x01\x01\0\x0c" + size + b"\0" + b"\x08\x0a\x01" + struct.pack("<I", zlib.crc32(data)) + b"\0"
    streams = b"\x04" + packed + unpacked + b"\0"
    header = b"\x01" + streams + b"\x05\x01\x11" + number_of_7z(len(names)) + names + b"\0\0"
    start = struct.pack("<QQI", len(data), len(header), zlib.crc32(header))
    return b"7z\xbc\xaf\x27\x1c\0\x04" + struct.pack("<I", zlib.crc32(start)) + start + data + header


@form("log in a 7z archive", "people on Windows", AS_IT_IS, ARCHIVES)
def in_7z(app: str) -> Files:
    return {f"{app}.7z": seven_zip(app, text(app))}


@form("two attempts in one stream", "YARN, agents that append", Refused("attempts"))
def two_attempts(app: str) -> Files:
    def attempt(number: str) -> bytes:
        def change(events: List[spark.Event]) -> None:
            spark.named(events, "ApplicationStart")[0]["App Attempt ID"] = number

        return spark.changed(app, change)

    return {app: attempt("1") + attempt("2")}


@form("several runs in one archive", "support cases", Runs((AS_IT_IS, AS_IT_IS)), (FILE, FOLDER, UPLOAD, CRAWL))
def several_in_zip(app: str) -> Files:
    return {f"{app}.zip": zipped({f"a/{app}": text(app), f"b/{app}-other": other(app)})}
