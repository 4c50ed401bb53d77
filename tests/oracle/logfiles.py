"""Finds an event log's files in their order and gives back its plain bytes, whatever the layout and the codec."""

from __future__ import annotations

import gzip
import io
import os
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

ROLLING_PART = re.compile(r"^events_(\d+)_.*$")
DATABRICKS_PART = re.compile(r"^eventlog-\d{4}-\d{2}-\d{2}--\d{2}-\d{2}(\.gz)?$")


class Part(NamedTuple):
    """One file of a log."""

    name: str
    read: Callable[[], bytes]


class Log(NamedTuple):
    """What one attempt of one application left behind."""

    name: str
    parts: List[Part]


# ---- layouts ----------------------------------------------------------------------------------------------------


def rolling_order(names: List[str]) -> List[str]:
    """Parts of a rolling log that still count: from the newest compacted one on, by number."""
    numbered: List[Tuple[int, bool, str]] = []
    for name in names:
        match = ROLLING_PART.match(name)
        if match:
            numbered.append((int(match.group(1)), ".compact" in name, name))
    compacted = [number for number, compact, _ in numbered if compact]
    first = max(compacted) if compacted else 0
    kept = [
        (number, name)
        for number, compact, name in numbered
        # Beside events_N.compact, an original events_N is superseded.
        if number > first or (number == first and (compact or not compacted))
    ]
    return [name for _, name in sorted(kept)]


def databricks_order(names: List[str]) -> List[str]:
    dated = sorted(name for name in names if DATABRICKS_PART.match(name))
    return dated + [name for name in names if name == "eventlog"]


def ordered_parts(names: List[str]) -> List[str]:
    """The parts of the log that a folder with these names is, or nothing if it is not a log."""
    rolling = rolling_order(names)
    if rolling:
        return rolling
    if any(DATABRICKS_PART.match(name) for name in names) or "eventlog" in names:
        return databricks_order(names)
    return []


def is_ignored(name: str) -> bool:
    return name.startswith(".") or name.startswith("appstatus_") or name.endswith(".crc")


def logs_of_zip(path: Path) -> List[Log]:
    folders: Dict[str, List[str]] = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            folder, _, name = member.rpartition("/")
            if name and not is_ignored(name):
                folders.setdefault(folder, []).append(name)

    def reader(member: str) -> Callable[[], bytes]:
        def read() -> bytes:
            with zipfile.ZipFile(path) as archive:
                return archive.read(member)

        return read

    logs: List[Log] = []
    for folder, names in sorted(folders.items()):
        prefix = folder + "/" if folder else ""
        parts = ordered_parts(names)
        if parts:
            logs.append(Log(f"{path}!{folder}", [Part(name, reader(prefix + name)) for name in parts]))
        else:
            logs += [Log(f"{path}!{prefix}{name}", [Part(name, reader(prefix + name))]) for name in sorted(names)]
    return logs


def find_logs(path: Path) -> List[Log]:
    """The logs at a path: a file, a folder that is one log, a zip archive, or a folder of any of these."""
    if path.is_dir():
        names = sorted(name for name in os.listdir(path) if not is_ignored(name))
        parts = ordered_parts([name for name in names if (path / name).is_file()])
        if parts:
            return [Log(str(path), [Part(name, (path / name).read_bytes) for name in parts])]
        return [log for name in names for log in find_logs(path / name)]
    with open(path, "rb") as stream:
        head = stream.read(4)
    if head == b"PK\x03\x04":
        return logs_of_zip(path)
    return [Log(str(path), [Part(path.name, path.read_bytes)])]


# ---- codecs -----------------------------------------------------------------------------------------------------
# Each gives the bytes before the first damage and whether there was damage: a log of a running application ends
# anywhere.

Decoded = Tuple[bytes, bool]


def decode_zstd(data: bytes) -> Decoded:
    import zstandard

    out = io.BytesIO()
    rest = data
    while rest:
        frame = zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj()
        try:
            # In small steps, so that a damaged frame still gives what precedes the damage.
            at = 0
            while at < len(rest) and not frame.eof:
                out.write(frame.decompress(rest[at : at + 256]))
                at += 256
        except zstandard.ZstdError:
            return out.getvalue(), True
        if not frame.eof:
            return out.getvalue(), True
        rest = frame.unused_data + rest[at:]
    return out.getvalue(), False


def decode_gzip(data: bytes) -> Decoded:
    out = io.BytesIO()
    rest = data
    while rest:
        member = zlib.decompressobj(wbits=31)
        try:
            out.write(member.decompress(rest))
        except zlib.error:
            return out.getvalue(), True
        if not member.eof:
            return out.getvalue(), True
        rest = member.unused_data.lstrip(b"\0")
    return out.getvalue(), False


def decode_lz4_block(data: bytes) -> Decoded:
    """Spark's LZ4BlockOutputStream (lz4-java): magic, token, two lengths, checksum, all little-endian."""
    import lz4.block

    out = io.BytesIO()
    at = 0
    while at < len(data):
        header = data[at : at + 21]
        if len(header) < 21 or header[:8] != b"LZ4Block":
            return out.getvalue(), True
        method = header[8] & 0xF0
        packed_len, plain_len = struct.unpack("<ii", header[9:17])
        body = data[at + 21 : at + 21 + packed_len]
        if packed_len < 0 or plain_len < 0 or len(body) < packed_len:
            return out.getvalue(), True
        if method == 0x10:
            out.write(body)
        elif method == 0x20:
            try:
                out.write(lz4.block.decompress(body, uncompressed_size=plain_len))
            except lz4.block.LZ4BlockError:
                return out.getvalue(), True
        else:
            return out.getvalue(), True
        at += 21 + packed_len
    return out.getvalue(), False


def decode_lz4_frame(data: bytes) -> Decoded:
    import lz4.frame

    try:
        return lz4.frame.decompress(data), False
    except RuntimeError:
        return b"", True


def decode_snappy_xerial(data: bytes) -> Decoded:
    """snappy-java's SnappyOutputStream: a 16-byte header (possibly again in mid-stream), big-endian block lengths."""
    import cramjam

    out = io.BytesIO()
    at = 0
    while at < len(data):
        if data[at : at + 8] == b"\x82SNAPPY\x00":
            at += 16
            continue
        if at + 4 > len(data):
            return out.getvalue(), True
        (length,) = struct.unpack(">i", data[at : at + 4])
        body = data[at + 4 : at + 4 + length]
        if length < 0 or len(body) < length:
            return out.getvalue(), True
        try:
            out.write(bytes(cramjam.snappy.decompress_raw(body)))
        except cramjam.DecompressionError:
            return out.getvalue(), True
        at += 4 + length
    return out.getvalue(), False


def decode_snappy_framed(data: bytes) -> Decoded:
    import cramjam

    try:
        return bytes(cramjam.snappy.decompress(data)), False
    except cramjam.DecompressionError:
        return b"", True


def lzf_expand(packed: bytes, plain_len: int) -> bytes:
    out = bytearray()
    at = 0
    while at < len(packed):
        control = packed[at]
        at += 1
        if control < 32:  # a run of control + 1 literal bytes
            out += packed[at : at + control + 1]
            at += control + 1
            continue
        length = control >> 5
        if length == 7:
            length += packed[at]
            at += 1
        start = len(out) - ((control & 0x1F) << 8) - packed[at] - 1
        at += 1
        if start < 0:
            raise ValueError("reference before the start of the block")
        for step in range(length + 2):
            out.append(out[start + step])
    if len(out) != plain_len:
        raise ValueError("wrong length of an LZF block")
    return bytes(out)


def decode_lzf(data: bytes) -> Decoded:
    """ning's compress-lzf chunks: 'ZV', 0 for raw or 1 for packed, big-endian lengths."""
    out = io.BytesIO()
    at = 0
    while at < len(data):
        header = data[at : at + 7]
        if len(header) < 5 or header[:2] != b"ZV":
            return out.getvalue(), True
        (length,) = struct.unpack(">H", header[3:5])
        if header[2] == 0:
            at += 5
            body = data[at : at + length]
            if len(body) < length:
                return out.getvalue(), True
            out.write(body)
        else:
            if len(header) < 7:
                return out.getvalue(), True
            (plain_len,) = struct.unpack(">H", header[5:7])
            at += 7
            body = data[at : at + length]
            try:
                out.write(lzf_expand(body, plain_len))
            except (ValueError, IndexError):
                return out.getvalue(), True
        at += length
    return out.getvalue(), False


CODECS: List[Tuple[bytes, Callable[[bytes], Decoded]]] = [
    (b"\x28\xb5\x2f\xfd", decode_zstd),
    (b"\x1f\x8b", decode_gzip),
    (b"LZ4Block", decode_lz4_block),
    (b"\x04\x22\x4d\x18", decode_lz4_frame),
    (b"\x82SNAPPY\x00", decode_snappy_xerial),
    (b"\xff\x06\x00\x00sNaPpY", decode_snappy_framed),
    (b"ZV", decode_lzf),
]


def codec_of(head: bytes) -> Optional[Callable[[bytes], Decoded]]:
    for magic, decode in CODECS:
        if head.startswith(magic):
            return decode
    return None


def plain_bytes(part: Part) -> Decoded:
    data = part.read()
    decode = codec_of(data[:16])
    return decode(data) if decode else (data, False)


# ---- encoders, for tests that put one log into every codec -------------------------------------------------------


def encode_lz4_block(data: bytes) -> bytes:
    import lz4.block
    import xxhash  # type: ignore[import-not-found]

    out = io.BytesIO()
    for at in range(0, len(data), 32768):
        block = data[at : at + 32768]
        packed = lz4.block.compress(block, store_size=False)
        method, body = (0x20, packed) if len(packed) < len(block) else (0x10, block)
        check = xxhash.xxh32(block, seed=0x9747B28C).intdigest() & 0x0FFFFFFF
        out.write(b"LZ4Block" + bytes([method | 5]) + struct.pack("<iiI", len(body), len(block), check) + body)
    out.write(b"LZ4Block" + bytes([0x10 | 5]) + struct.pack("<iiI", 0, 0, 0))
    return out.getvalue()


def encode_snappy_xerial(data: bytes) -> bytes:
    import cramjam

    out = io.BytesIO()
    out.write(b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1))
    for at in range(0, len(data), 32768):
        packed = bytes(cramjam.snappy.compress_raw(data[at : at + 32768]))
        out.write(struct.pack(">i", len(packed)) + packed)
    return out.getvalue()


def encode_lzf_raw(data: bytes) -> bytes:
    """Chunks stored raw: what LZF does with data that does not shrink."""
    return b"".join(
        b"ZV\x00" + struct.pack(">H", len(data[at : at + 65535])) + data[at : at + 65535]
        for at in range(0, len(data), 65535)
    )


def encode_zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=1).compress(data)


ENCODERS: Dict[str, Callable[[bytes], bytes]] = {
    "zstd": encode_zstd,
    "gzip": gzip.compress,
    "lz4": encode_lz4_block,
    "snappy": encode_snappy_xerial,
    "lzf": encode_lzf_raw,
}
