"""Protocol buffers, as far as tests read them: fields and their values."""

from __future__ import annotations

from typing import Any, List, Tuple

Message = Any


def varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def read_message(data: bytes) -> List[Tuple[int, Any]]:
    """Numbers are integers; texts and messages are bytes."""
    fields: List[Tuple[int, Any]] = []
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            number, at = varint(data, at)
            fields.append((tag >> 3, number))
        else:
            assert tag & 7 == 2, tag
            length, at = varint(data, at)
            assert at + length <= len(data)
            fields.append((tag >> 3, data[at : at + length]))
            at += length
    return fields
