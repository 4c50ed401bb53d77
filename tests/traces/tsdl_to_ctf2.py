"""Rewrites the metadata of a trace of version 1.8 as those of version 2, for the same streams.

Only what perf and LTTng write is read. Its own parser of TSDL shares nothing with the reader that it tests."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

Json = Dict[str, Any]
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"((?:\\.|[^"\\])*)"|:=|\.\.\.|[\w]+|[{}\[\]();:=,.<>*-]', re.S)
SCOPES = {"trace.packet.header": "packet-header", "stream.packet.context": "packet-context", "stream.event.header": "event-record-header"}
ROLES = {
    "packet-header": {"magic": "packet-magic-number", "uuid": "metadata-stream-uuid", "stream_id": "data-stream-class-id"},
    "packet-context": {
        "timestamp_begin": "default-clock-timestamp",
        "timestamp_end": "packet-end-default-clock-timestamp",
        "content_size": "packet-content-length",
        "packet_size": "packet-total-length",
        "packet_seq_num": "packet-sequence-number",
        "events_discarded": "discarded-event-record-counter-snapshot",
    },
    "event-record-header": {"id": "event-record-class-id", "timestamp": "default-clock-timestamp"},
}


def text_of(metadata: bytes) -> str:
    """Without its packets."""
    if metadata[:4] != b"\x57\x1d\xd1\x75":
        return metadata.decode()
    text, at = b"", 0
    while at < len(metadata):
        content, size = struct.unpack_from("<II", metadata, at + 24)
        text += metadata[at + 37 : at + content // 8]
        at += size // 8
    return text.decode()


class Converter:
    """Types are JSON at once; labels of enumerations are kept next to them until a variant needs them."""

    def __init__(self, text: str) -> None:
        self.tokens = [(match[0], match[1]) for match in TOKEN.finditer(text) if not match[0].startswith(("/*", "//"))]
        self.at = 0
        self.aliases: Dict[str, Json] = {}
        self.structs: Dict[str, Json] = {}
        self.fragments: List[Json] = []
        self.blocks: List[Tuple[str, Json, Dict[str, Json]]] = []

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def next(self, expected: Optional[str] = None) -> str:
        token = self.tokens[self.at][0]
        assert expected is None or token == expected, (token, expected, self.tokens[self.at - 8 : self.at + 8])
        self.at += 1
        return token

    def take(self, token: str) -> bool:
        self.at += self.peek() == token
        return self.tokens[self.at - 1][0] == token

    def until(self, end: str) -> str:
        words = []
        while self.peek() != end:
            token, text = self.tokens[self.at]
            words.append(text if text is not None else token)
            self.at += 1
        self.next(end)
        return "".join(words)

    # ---- Types ----------------------------------------------------------------------------------------------------

    def attributes(self) -> Dict[str, str]:
        found = {}
        self.next("{")
        while not self.take("}"):
            name = self.until("=")
            found[name] = self.until(";")
        return found

    def integer(self) -> Json:
        said = self.attributes()
        size = int(said["size"])
        kind = "signed" if said.get("signed") in ("1", "true") else "unsigned"
        made: Json = {"type": f"fixed-length-{kind}-integer", "length": size, "alignment": int(said.get("align", 8 if size % 8 == 0 else 1))}
        made["byte-order"] = "big-endian" if said.get("byte_order") == "be" else "little-endian"
        if said.get("encoding") in ("UTF8", "ASCII"):
            made["text"] = True
        return made

    def enumeration(self) -> Json:
        self.next(":")
        made = dict(self.type()[0])
        labels: Dict[str, List[List[int]]] = {}
        self.next("{")
        number = 0
        while not self.take("}"):
            name = self.next()
            if self.take("="):
                number = int(self.next(), 0)
            last = int(self.next(), 0) if self.take("...") else number
            labels.setdefault(name, []).append([number, last])
            number = last + 1
            self.take(",")
        made["labels"] = labels
        return made

    def structure(self) -> Json:
        tag = "" if self.peek() == "{" else self.next()
        if self.peek() != "{":
            return self.structs[tag]
        made: Json = {"type": "structure", "member-classes": self.members()}
        if self.take("align"):
            self.next("(")
            made["minimum-alignment"] = int(self.until(")"))
        if tag:
            self.structs[tag] = made
        return made

    def variant(self) -> Json:
        self.next("<")
        selector = self.until(">")
        return {"type": "variant", "selector": selector, "options": self.members()}

    def members(self) -> List[Json]:
        found = []
        self.next("{")
        while not self.take("}"):
            kind, name = self.type()
            name = name or self.next()
            dimensions = []
            while self.take("["):
                dimensions.append(self.until("]"))
            for dimension in reversed(dimensions):
                kind = self.array(kind, dimension)
            found.append({"name": name, "field-class": kind})
            self.next(";")
        return found

    @staticmethod
    def array(element: Json, dimension: str) -> Json:
        text = element.get("text")
        made: Json = {"type": f"{'static' if dimension.isdigit() else 'dynamic'}-length-{'string' if text else 'array'}"}
        if not text:
            made["element-field-class"] = element
        if dimension.isdigit():
            made["length"] = int(dimension)
        else:
            made["length-of"] = dimension
        return made

    def type(self) -> Tuple[Json, str]:
        """A type, and the name after it if that was read too."""
        word = self.next()
        if word == "string":
            if self.peek() == "{":
                self.attributes()
            return {"type": "null-terminated-string"}, ""
        made = {"integer": self.integer, "enum": self.enumeration, "struct": self.structure, "variant": self.variant}.get(word)
        if made:
            return made(), ""
        words = [word]
        while re.fullmatch(r"\w+", self.peek()):
            words.append(self.next())
        name = " ".join(words)
        return (self.aliases[name], "") if name in self.aliases else (self.aliases[" ".join(words[:-1])], words[-1])

    # ---- Blocks ---------------------------------------------------------------------------------------------------

    def block(self) -> Tuple[Json, Dict[str, Json]]:
        values: Json = {}
        types: Dict[str, Json] = {}
        self.next("{")
        while not self.take("}"):
            name = ""
            while self.peek() not in ("=", ":="):
                name += self.next()
            if self.next() == ":=":
                types[name] = self.type()[0]
                self.next(";")
            else:
                quoted = self.tokens[self.at][1] is not None
                value = self.until(";")
                values[name] = value if quoted or not value.lstrip("-").isdigit() else int(value)
        self.next(";")
        return values, types

    def read(self) -> None:
        while self.at < len(self.tokens):
            word = self.next()
            if word == "typealias":
                kind, _ = self.type()
                self.next(":=")
                name = []
                while self.peek() != ";":
                    name.append(self.next())
                self.next(";")
                self.aliases[" ".join(name)] = kind
            elif word == "struct":
                self.structure()
                self.next(";")
            else:
                self.blocks.append((word, *self.block()))

    # ---- JSON -----------------------------------------------------------------------------------------------------

    def finished(self, kind: Json, scope: str, name: str, around: List[Json]) -> Json:
        """A type without what is only kept for this program, with roles and locations; `around`: structures that it lies in."""
        made = {key: value for key, value in kind.items() if key not in ("labels", "text", "selector", "length-of")}
        role = ROLES.get(scope, {}).get(name)
        if role == "metadata-stream-uuid":
            return {"type": "static-length-blob", "length": 16, "roles": [role]}
        if role:
            made["roles"] = [role]
        if kind["type"] == "structure":
            inner: List[Json] = []
            made["member-classes"] = inner
            for member in kind["member-classes"]:
                stripped = member["name"][1:] if member["name"].startswith("_") else member["name"]
                inner.append({"name": stripped, "field-class": self.finished(member["field-class"], scope, stripped, [*around, kind])})
        if "element-field-class" in kind:
            made["element-field-class"] = self.finished(kind["element-field-class"], scope, "", around)
        for key, target in (("length-of", "length-field-location"), ("selector", "selector-field-location")):
            if key in kind:
                made[target] = self.location(kind[key], scope)
        if kind["type"] == "variant":
            selector = next(member["field-class"] for member in around[-1]["member-classes"] if member["name"] == kind["selector"])
            made["options"] = [
                {
                    "name": option["name"],
                    "field-class": self.finished(option["field-class"], scope, option["name"], around),
                    "selector-field-ranges": selector["labels"][option["name"]],
                }
                for option in kind["options"]
            ]
        return made

    @staticmethod
    def location(path: str, scope: str) -> Json:
        for prefix, origin in SCOPES.items():
            if path.startswith(prefix + "."):
                return {"origin": origin, "path": path[len(prefix) + 1 :].split(".")}
        names = [part[1:] if part.startswith("_") else part for part in path.split(".")]
        return {"origin": scope, "path": names} if len(names) > 1 else {"path": names}

    def fragments_of(self) -> List[Json]:
        values = {word: said for word, said, _ in self.blocks}
        types = {word: kinds for word, _, kinds in self.blocks}
        clock = values["clock"]
        uuid = bytes.fromhex(values["trace"]["uuid"].replace("-", ""))
        made: List[Json] = [
            {"type": "preamble", "version": 2, "uuid": list(uuid)},
            {
                "type": "trace-class",
                "environment": values["env"],
                "packet-header-field-class": self.finished(types["trace"]["packet.header"], "packet-header", "", []),
            },
            {
                "type": "clock-class",
                "id": "the clock",
                "name": clock["name"],
                "uid": clock["uuid"],
                "frequency": clock["freq"],
                "offset-from-origin": {"seconds": clock.get("offset_s", 0), "cycles": clock["offset"]},
                **({"origin": "unix-epoch"} if clock["offset"] else {}),
            },
        ]
        for word, said, kinds in self.blocks:
            if word == "stream":
                stream = {"type": "data-stream-class", "id": said["id"], "default-clock-class-id": "the clock"}
                for name, scope in (("packet.context", "packet-context"), ("event.header", "event-record-header"), ("event.context", "event-record-common-context")):
                    if name in kinds:
                        stream[f"{scope}-field-class"] = self.finished(kinds[name], scope, "", [])
                made.append(stream)
            elif word == "event":
                event = {"type": "event-record-class", "id": said["id"], "data-stream-class-id": said["stream_id"], "name": said["name"]}
                for name, scope, key in (
                    ("context", "event-record-specific-context", "specific-context-field-class"),
                    ("fields", "event-record-payload", "payload-field-class"),
                ):
                    if name in kinds:
                        event[key] = self.finished(kinds[name], scope, "", [])
                made.append(event)
        return made


def converted(metadata: bytes, indent: Optional[int] = None) -> bytes:
    converter = Converter(text_of(metadata))
    converter.read()
    return b"".join(b"\x1e" + json.dumps(fragment, indent=indent).encode() + b"\n" for fragment in converter.fragments_of())


def convert(source: Path, target: Path, indent: Optional[int] = None) -> Path:
    """Makes a folder with the converted metadata and links to the streams."""
    target.mkdir(exist_ok=True)
    (target / "metadata").write_bytes(converted((source / "metadata").read_bytes(), indent))
    for path in source.iterdir():
        if path.is_file() and path.name != "metadata":
            (target / path.name).symlink_to(path)
    return target
