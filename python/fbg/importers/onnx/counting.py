"""Counts the messages and texts of a file before protobuf makes objects of them.

A field of two bytes becomes an object of 200, so that a file of nothing else takes 100 times its
size. The data that a file really holds are large beside its fields.
"""

from __future__ import annotations

import onnx

from fbg.errors import ModelError

MOST, BYTES_EACH = 2**19, 128  # fields of any file, and bytes of it for each further one

_MESSAGES = onnx.ModelProto.DESCRIPTOR.file.message_types_by_name
# The messages that each message holds, by the number of the field.
_NESTED = {
    name: {f.number: f.message_type.name for f in message.fields if f.message_type}
    for name, message in _MESSAGES.items()
}


def require_few_fields(data: bytes, origin: str) -> None:
    """Raise ModelError for more fields than belong to a file of this size.

    Damage is left to the parser, which gets no further than this count.
    """
    most = MOST + len(data) // BYTES_EACH
    around: list[tuple[int, str]] = []  # ends and names of unfinished messages
    at, end, name, count = 0, len(data), "ModelProto", 0
    while True:
        while at >= end:
            if not around:
                return
            end, name = around.pop()
        key, at = _varint(data, at)
        kind, size = key & 7, {1: 8, 5: 4}.get(key & 7, 0)
        if kind == 0:
            at = _varint(data, at)[1]
        elif kind == 2:
            size, at = _varint(data, at)
            count += 1
            if count > most:
                raise ModelError(f"{origin}: more than {most} fields in {len(data)} bytes")
            inner = _NESTED.get(name, {}).get(key >> 3)
            if inner is not None and size:
                around.append((end, name))
                end, name, size = min(at + size, end), inner, 0
        elif kind in (3, 4):
            raise ModelError(f"{origin}: not an ONNX file: it has groups of fields")
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends; at the end of the data for one that is cut short."""
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128 or shift > 63:
            return value, at
        shift += 7
    return value, at
