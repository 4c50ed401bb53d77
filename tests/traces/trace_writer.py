"""Traces made here: types, clocks and losses that no recorded trace has, with what is to be read of them."""

from __future__ import annotations

import json
import struct
import uuid
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

UUID = uuid.UUID("2a6422d0-6cee-11e0-8c08-cb07d7b3a564")
MAGIC = 0xC1FC1FC1
Expected = Sequence[Tuple[Dict[str, Sequence[str]], List[Tuple[Any, ...]]]]


class Bits:
    """Fields one after the other: least significant bit first, or in big-endian traces most significant first."""

    def __init__(self, big: bool) -> None:
        self.big = big
        self.data = bytearray()
        self.at = 0

    def align(self, bits: int) -> "Bits":
        self.at = (self.at + bits - 1) // bits * bits
        return self

    def number(self, value: int, size: int, align: int = 0, big: Optional[bool] = None) -> "Bits":
        self.align(align or (8 if size % 8 == 0 else 1))
        big = self.big if big is None else big
        self.data.extend(bytes((self.at + size + 7) // 8 - len(self.data)))
        for bit in range(size):
            place = self.at + (size - 1 - bit if big else bit)
            shift = 7 - place % 8 if big else place % 8
            self.data[place // 8] |= (value >> bit & 1) << shift
        self.at += size
        return self

    def raw(self, data: bytes) -> "Bits":
        self.align(8)
        self.data.extend(bytes(self.at // 8 - len(self.data)))
        self.data.extend(data)
        self.at += 8 * len(data)
        return self

    def real(self, value: float, size: int) -> "Bits":
        return self.raw(struct.pack((">" if self.big else "<") + {32: "f", 64: "d"}[size], value))

    def leb(self, value: int) -> "Bits":
        data = bytearray()
        while True:
            byte, value = value & 0x7F, value >> 7
            if value in (0, -1) and (value == 0) == (byte < 64 or value == 0 and byte < 128):
                data.append(byte)
                return self.raw(bytes(data))
            data.append(byte | 0x80)


Body = Callable[[Bits], Any]


def packet(big: bool, context: Callable[[Bits, int, int], Any], events: Sequence[Body], size: int = 0, stream: int = 0) -> bytes:
    """`context` gets the bits of the content and of the packet; events begin after it."""

    def write(content: int, whole: int) -> Bits:
        bits = Bits(big).number(MAGIC, 32).raw(UUID.bytes).number(stream, 32)
        context(bits, content, whole)
        for event in events:
            event(bits)
        return bits

    content = write(0, 0).at
    whole = max(size, (content + 7) // 8 * 8)
    return bytes(write(content, whole).data).ljust(whole // 8, b"\0")


def packed_metadata(text: str, big: bool) -> bytes:
    made, data = b"", text.encode()
    for first in range(0, len(data), 1000):
        piece = data[first : first + 1000]
        size = (37 + len(piece)) * 8
        head = struct.pack(">I" if big else "<I", 0x75D11D57) + UUID.bytes
        made += head + struct.pack(">III5B" if big else "<III5B", 0, size, size + 256, 0, 0, 0, 1, 8) + piece + bytes(32)
    return made


# ---- Types of version 1.8 ---------------------------------------------------------------------------------------------

TSDL = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; } := unsigned short int;
typealias integer { size = 32; signed = true; } := int;
typealias integer { size = 8; encoding = UTF8; signed = true; } := char_t;
typedef unsigned short int short_t;
trace { major = 1; minor = 8; uuid = "%(uuid)s"; byte_order = %(order)s;
  packet.header := struct { integer { size = 32; } magic; uint8_t uuid[16]; integer { size = 32; } stream_id; };
};
env { hostname = "a \\"host\\""; tracer_name = "made"; };
clock { name = cycles; freq = 3000000; offset_s = 10; offset = 1500000; };
typealias integer { size = 27; align = 1; map = clock.cycles.value; } := clock27_t; // a comment
struct context {
  integer { size = 64; map = clock.cycles.value; } timestamp_begin, timestamp_end;
  integer { size = 64; } content_size; integer { size = 64; } packet_size; short_t cpu_id;
};
struct header {
  enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
  variant <id> {
    struct { clock27_t timestamp; } compact;
    struct { integer { size = 32; align = 8; } id; integer { size = 64; align = 8; map = clock.cycles.value; } timestamp; } extended;
  } v;
} align(8);
stream { id = 0; event.header := struct header; packet.context := struct context;
  event.context := struct { uint8_t _shared_length; };
};
callsite { name = "here"; func = "main"; ip = 0x40; };
event { id = 1; name = "numbers"; stream_id = 0; loglevel = 13; fields := struct {
  integer { size = 3; align = 1; } _three; integer { size = 13; align = 1; signed = 1; base = 10; } _thirteen;
  integer { size = 64; align = 1; } wide; integer { size = 1; align = 1; } bit; integer { size = 64; align = 1; signed = true; } crooked;
  integer { size = 16; align = 8; byte_order = be; } big; integer { size = 16; align = 8; byte_order = le; signed = true; } little;
  integer { size = 32; align = 32; } aligned;
  floating_point { exp_dig = 8; mant_dig = 24; } half; floating_point { exp_dig = 11; mant_dig = 53; align = 8; } real;
}; };
event { id = 2; name = "texts"; stream_id = 0; context := struct { int inner; }; fields := struct {
  string { encoding = UTF8; } first; char_t _fixed[8]; uint8_t _list_length; char_t _list[ _list_length ];
  uint8_t count; short_t numbers[count]; uint8_t pairs[2][3]; string names[stream.event.context._shared_length]; int last;
}; };
event { id = 40; name = "choices"; stream_id = 0; fields := struct {
  enum kinds : integer { size = 8; signed = true; } { A, B = 2 ... 4, "C" = -5, D = 7 } tag;
  variant <tag> { int A; string B; struct { uint8_t x; short_t y; } C; struct { } D; } choice;
  uint8_t n; struct { uint8_t len; uint8_t bytes[len]; } items[n]; struct { struct { int deep; } in; } out; int cpu;
}; };
"""


def header(event: int, clock: int) -> Body:
    def write(bits: Bits) -> None:
        bits.align(8)
        if event < 31 and clock < 2**27:
            bits.number(event, 5, 1).number(clock, 27, 1)
        else:
            bits.number(31, 5, 1).number(event, 32, 8).number(clock, 64, 8)

    return write


def numbers(three: int, thirteen: int, wide: int, crooked: int) -> Body:
    def write(bits: Bits) -> None:
        header(1, three * 3)(bits)
        bits.number(0, 8)
        bits.align(32).number(three, 3, 1).number(thirteen, 13, 1).number(wide, 64, 1).number(1, 1, 1).number(crooked, 64, 1)
        bits.number(0x1234, 16, 8, True).number(-2, 16, 8, False).number(99, 32, 32).real(1.5, 32).real(-1e6, 64)

    return write


def texts(text: str, fixed: bytes, listed: bytes, counted: Sequence[int], names: Sequence[str]) -> Body:
    def write(bits: Bits) -> None:
        header(2, 30)(bits)
        bits.number(len(names), 8).number(-7, 32)
        bits.raw(text.encode() + b"\0").raw(fixed.ljust(8, b"\0")).number(len(listed), 8).raw(listed).number(len(counted), 8)
        for number in counted:
            bits.number(number, 16)
        bits.raw(bytes(range(6)))
        for name in names:
            bits.raw(name.encode() + b"\0")
        bits.number(-1, 32)

    return write


def choices(tag: int, body: Body, items: Sequence[bytes]) -> Body:
    def write(bits: Bits) -> None:
        header(40, 2**27 + 40)(bits)
        bits.number(0, 8).number(tag, 8)
        body(bits)
        bits.number(len(items), 8)
        for item in items:
            bits.number(len(item), 8).raw(item)
        bits.number(12, 32).number(3, 32)

    return write


def write_tsdl(folder: Path, order: str, packed: bool) -> Path:
    big = order == "be"
    text = TSDL % {"uuid": UUID, "order": order}
    folder.mkdir(exist_ok=True)
    (folder / "metadata").write_bytes(packed_metadata(text, big) if packed else text.encode())

    def context(begin: int, end: int) -> Callable[[Bits, int, int], Any]:
        return lambda bits, content, whole: bits.number(begin, 64).number(end, 64).number(content, 64).number(whole, 64).number(300, 16)

    events = [
        numbers(5, -4096, 2**64 - 1, -(2**63)),
        numbers(7, 4095, 1, 2**63 - 1),
        texts("some text", b"eight ch", b"", (), ()),
        texts("", b"four", b"a list", (1, 2, 65535), ("x", "", "yz")),
        choices(0, lambda bits: bits.number(-3, 32), ()),
        choices(3, lambda bits: bits.raw(b"three\0"), (b"", b"ab")),
        choices(-5, lambda bits: bits.number(1, 8).number(2, 16), (b"c",)),
        choices(7, lambda bits: bits, ()),
    ]
    (folder / "channel_0").write_bytes(packet(big, context(0, 30), events[:3], 65536) + packet(big, context(30, 2**28), events[3:]))
    return folder


TSDL_EXPECTED: Expected = (
    (
        {"numbers": ("three", "thirteen", "wide", "bit", "crooked", "big", "little", "aligned", "half", "real", "cpu_id", "none|_three")},
        [(5, -4096, -1, 1, -(2**63), 0x1234, -2, 99, 2, -1000000, 300, 5), (7, 4095, 1, 1, 2**63 - 1, 0x1234, -2, 99, 2, -1000000, 300, 7)],
    ),
    (
        {"texts": ("first", "fixed", "list", "numbers.0", "numbers.2", "last", "inner", "shared_length", "pairs", "names", "cpu_id|inner", "timestamp_end")},
        [("some text", "eight ch", "", None, None, -1, -7, 0, None, None, 300, 30), ("", "four", "a list", 1, 65535, -1, -7, 3, None, None, 300, 2**28)],
    ),
    (
        {"choices": ("tag", "choice", "choice.A", "choice.B", "choice.x", "choice.C.y", "out.in.deep", "cpu", "items", "deep", "in.deep|deep|n", "choice.none|tag")},
        [
            (0, -3, -3, None, None, None, 12, 3, None, None, 0, 0),
            (3, "three", None, "three", None, None, 12, 3, None, None, 2, 3),
            (-5, None, None, None, 1, 2, 12, 3, None, None, 1, -5),
            (7, None, None, None, None, None, 12, 3, None, None, 0, 7),
        ],
    ),
)

# ---- Types of version 2 -----------------------------------------------------------------------------------------------


def integer(length: int, **more: Any) -> Dict[str, Any]:
    kind = {"type": "fixed-length-unsigned-integer", "length": length, "byte-order": "little-endian", "alignment": 8 if length % 8 == 0 else 1}
    return {**kind, **{key.replace("_", "-"): value for key, value in more.items()}}


def structure(**members: Any) -> Dict[str, Any]:
    return {"type": "structure", "member-classes": [{"name": name.replace("_of_", "-"), "field-class": kind} for name, kind in members.items()]}


def located(*path: Optional[str], origin: str = "") -> Dict[str, Any]:
    return {"path": list(path), **({"origin": origin} if origin else {})}


VARINT = {"type": "variable-length-unsigned-integer"}
FRAGMENTS: Sequence[Dict[str, Any]] = (
    {"type": "preamble", "version": 2, "uuid": list(UUID.bytes)},
    {"field-class": integer(8), "name": "byte", "type": "field-class-alias"},
    {
        "type": "trace-class",
        "name": "made",
        "environment": {"hostname": "h\u00f6st", "tracer_name": "made", "tracer_major": 3},
        "packet-header-field-class": structure(
            magic=integer(32, roles=["packet-magic-number"]),
            uuid={"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]},
            stream=integer(32, roles=["data-stream-class-id"]),
        ),
    },
    {"type": "clock-class", "id": "c", "frequency": 1000000000, "origin": "unix-epoch", "offset-from-origin": {"seconds": 1600000000}},
    {
        "type": "data-stream-class",
        "default-clock-class-id": "c",
        "packet-context-field-class": structure(
            content=integer(64, roles=["packet-content-length"]), whole=integer(64, roles=["packet-total-length"]), cpu_id="byte", length="byte"
        ),
        "event-record-header-field-class": structure(
            id={"type": "variable-length-unsigned-integer", "roles": ["event-record-class-id"]},
            time={"type": "variable-length-unsigned-integer", "roles": ["default-clock-timestamp"]},
        ),
    },
    {
        "type": "event-record-class",
        "id": 200,
        "name": "strings",
        "payload-field-class": structure(
            small={"type": "variable-length-signed-integer"},
            large=VARINT,
            text={"type": "null-terminated-string"},
            wide={"type": "null-terminated-string", "encoding": "utf-16le"},
            fixed={"type": "static-length-string", "length": 6},
            len="byte",
            dynamic={"type": "dynamic-length-string", "length-field-location": located("len")},
            blob={"type": "static-length-blob", "length": 3},
            bytes={"type": "dynamic-length-blob", "length-field-location": located("length", origin="packet-context")},
            array={"type": "dynamic-length-array", "length-field-location": located("len"), "element-field-class": integer(16), "minimum-alignment": 32},
            varints={"type": "static-length-array", "length": 2, "element-field-class": VARINT},
            lists={
                "type": "static-length-array",
                "length": 2,
                "element-field-class": structure(
                    n="byte",
                    bytes={"type": "dynamic-length-blob", "length-field-location": located("lists", "n", origin="event-record-payload")},
                ),
            },
            last="byte",
        ),
    },
    {
        "type": "event-record-class",
        "id": 1,
        "name": "options",
        "specific-context-field-class": structure(flag={"type": "fixed-length-boolean", "length": 8, "byte-order": "little-endian", "alignment": 8}),
        "payload-field-class": structure(
            maybe={
                "type": "optional",
                "selector-field-location": located("flag", origin="event-record-specific-context"),
                "field-class": integer(16),
            },
            tag={"type": "fixed-length-signed-integer", "length": 8, "byte-order": "little-endian", "alignment": 8},
            inner=structure(
                choice={
                    "type": "variant",
                    "selector-field-location": located(None, "tag"),
                    "options": [
                        {"name": "low", "field-class": "byte", "selector-field-ranges": [[-128, -1]]},
                        {"name": "high", "field-class": {"type": "null-terminated-string"}, "selector-field-ranges": [[0, 10], [20, 127]]},
                    ],
                },
                some={
                    "type": "optional",
                    "selector-field-location": located(None, "tag"),
                    "selector-field-ranges": [[5, 5]],
                    "field-class": structure(a="byte", b="byte"),
                },
            ),
            turned=integer(8, bit_order="last-to-first"),
            bits={"type": "fixed-length-bit-array", "length": 4, "byte-order": "big-endian"},
        ),
    },
)


def write_ctf2(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    text = "".join("\x1e" + json.dumps(fragment, indent=1) + "\n" for fragment in FRAGMENTS)
    (folder / "metadata").write_text(text)

    def context(bits: Bits, content: int, whole: int) -> None:
        bits.number(content, 64).number(whole, 64).number(6, 8).number(2, 8)

    def strings(bits: Bits) -> None:
        bits.leb(200).leb(10).align(32).leb(-300).leb(2**40).raw(b"plain\0").raw("wide".encode("utf-16le") + b"\0\0").raw(b"sixsix")
        bits.number(3, 8).raw(b"abc").raw(b"...").raw(b"..")
        bits.align(32)
        for number in (1, 2, 3):
            bits.number(number, 16)
        bits.leb(1).leb(128).number(1, 8).raw(b"x").number(2, 8).raw(b"yz").number(77, 8)

    def options(flag: int, tag: int, *rest: bytes) -> Body:
        def write(bits: Bits) -> None:
            bits.leb(1).leb(2**33).number(flag, 8)
            if flag:
                bits.number(513, 16)
            bits.number(tag, 8)
            for part in rest:
                bits.raw(part)
            bits.number(0b00000011, 8).number(0xA, 4, 1, True)

        return write

    events = [strings, options(0, -3, b"\x07"), options(2, 5, b"five\0", b"\x01\x02"), options(1, 30, b"thirty\0")]
    (folder / "stream").write_bytes(packet(False, context, events))
    return folder


CTF2_EXPECTED: Expected = (
    (
        {"strings": ("small", "large", "text", "wide", "fixed", "dynamic", "blob", "bytes", "array.1", "last", "cpu_id", "len")},
        [(-300, 2**40, "plain", None, "sixsix", "abc", None, None, 2, 77, 6, 3)],
    ),
    (
        {"options": ("flag", "maybe", "tag", "inner.choice", "inner.choice.low", "inner.choice.high", "inner.some.b", "inner.some.a", "turned", "bits")},
        [
            (0, None, -3, 7, 7, None, None, None, 192, 10),
            (1, 513, 5, "five", None, "five", 2, 1, 192, 10),
            (1, 513, 30, "thirty", None, "thirty", None, None, 192, 10),
        ],
    ),
)

# ---- Losses ---------------------------------------------------------------------------------------------------------

LOSING = """/* CTF 1.8 */
typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;
trace { major = 1; minor = 8; uuid = "%s"; byte_order = le;
  packet.header := struct { integer { size = 32; } magic; integer { size = 8; } uuid[16]; integer { size = 32; } stream_id; };
};
clock { name = c; freq = 1000000000; };
stream { id = 0;
  packet.context := struct { stamp timestamp_begin; stamp timestamp_end; integer { size = 64; } content_size; integer { size = 64; } packet_size;
    integer { size = 64; } packet_seq_num; integer { size = 16; } events_discarded; integer { size = 32; } cpu_id; };
  event.header := struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; integer { size = 5; align = 1; } id; } align(8);
};
event { id = 0; name = "tick"; stream_id = 0; fields := struct { integer { size = 8; } n; }; };
""" % UUID
LOSSES = [
    (0, 9, 500, 2500, 65530, "events discarded"),
    (0, 9, 2500, 2**27, 0, "packets lost"),
    (0, 9, 2500, 2**28 + 100, 9, "events discarded"),
    (0, 9, 2**29, 2**63 - 1, 0, "stream cut"),
]


def write_losses(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "metadata").write_text(LOSING)

    def tick(clock: int, number: int) -> Body:
        return lambda bits: bits.align(8).number(clock % 2**27, 27, 1).number(0, 5, 1).number(number, 8)

    def made(begin: int, end: int, number: int, discarded: int, *events: Body) -> bytes:
        def context(bits: Bits, content: int, whole: int) -> None:
            for value, size in ((begin, 64), (end, 64), (content, 64), (whole, 64), (number, 64), (discarded, 16), (9, 32)):
                bits.number(value, size)

        return packet(False, context, events, 1024)

    packets = [
        made(500, 2500, 0, 65530, tick(1000, 1), tick(2000, 2)),
        made(2**27, 2**28 + 100, 4, 3, tick(2**27 + 5, 3), tick(2**28 + 3, 4)),
        made(2**28 + 200, 2**28 + 200, 5, 3),  # without events
        made(2**29, 2**30, 6, 3, tick(2**29, 5), tick(2**29 + 1, 6)),
    ]
    data = b"".join(packets)
    (folder / "stream").write_bytes(data[: len(data) - 128 + 77])
    return folder
