"""Changes at random to the inputs of fuzz targets: of bytes, of JSON values, of safetensors files.

A change is a function of the input and of a generator of random numbers, so that a case follows
from its number alone.
"""

from __future__ import annotations

import json
import struct

__all__ = ["change_bytes", "change_json", "change_json_text", "change_safetensors"]

NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 8, 64, 127, 128, 255, 256, 1000, 65535, 65536),
    *(2**31 - 1, 2**31, -(2**31), 2**32, 2**48, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30),
    *(0.0, -0.0, 0.5, -1.5, 1e-45, 1e38, 1e308, float("nan"), float("inf"), -float("inf")),
)
TEXTS = (
    *("", " ", "\0", "a", "null", "\ud800", "é", "x" * 300, "../x", "/dev/null", "[MASK]", "##"),
    *("F32", "F16", "BF16", "I64", "U8", "BOOL", "float32", "int8", "gelu", "relu", "bert", "t5"),
    *("(", "[", "%s", "{}", "{{ x }}", "{% for x in y %}", "\\", "\n", "1" * 400),
)
DEEPEST = 40


def change_bytes(data, rng):
    """Replace, flip, insert, remove, repeat or cut bytes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(changed) + 1)
        size = min(rng.choice((1, 1, 2, 4, 8, 40)), len(changed) - at)
        kind = rng.randrange(7)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[at : at + size] = rng.randbytes(size)
        elif kind == 2:
            changed[at:at] = rng.randbytes(rng.choice((1, 2, 8, 100)))
        elif kind == 3:
            del changed[at : at + size]
        elif kind == 4:
            changed[at:at] = changed[at : at + size] * rng.choice((1, 1, 20))
        elif kind == 5:
            number = rng.choice(NUMBERS[:21])
            packed = struct.pack("<q", int(number) & 0x7FFFFFFFFFFFFFFF)
            changed[at : at + 8] = packed[: min(8, len(changed) - at)]
        elif rng.random() < 0.3:
            del changed[at:]
    return bytes(changed)


def _any_value(rng):
    kind = rng.randrange(10)
    if kind < 4:
        return rng.choice(NUMBERS)
    if kind < 7:
        return rng.choice(TEXTS)
    return rng.choice((None, True, False, [], {}, [[]], {"": {}}, [0, 2**62], {"a": [1, "b"]}))


def _places(value, found, depth=0):
    """Collect every (container, key) of a JSON value."""
    if depth > DEEPEST:
        return
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            _places(value[key], found, depth + 1)


def change_json(value, rng):
    """Change a JSON value in some places: other values, missing, doubled or exchanged ones."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = []
        if isinstance(value, dict | list):
            _places(value, found)
        if not found:
            return _any_value(rng)
        container, key = rng.choice(found)
        kind = rng.randrange(8)
        if kind <= 2:
            container[key] = _any_value(rng)
        elif kind == 3:
            del container[key]
        elif kind == 4:
            other, place = rng.choice(found)
            if place in other if isinstance(other, dict) else place < len(other):
                container[key] = json.loads(json.dumps(other[place]))
        elif kind == 5 and isinstance(container[key], int | float):
            container[key] = container[key] * rng.choice((-1, 2, 1.5)) + rng.choice((-1, 0, 1))
        elif kind == 6 and isinstance(container, list):
            container.insert(key, _any_value(rng))
        elif isinstance(container, dict):
            container[rng.choice(TEXTS)] = container[key]
    return value


def change_json_text(data, rng):
    """Change a JSON document: mostly its values, sometimes its bytes."""
    if rng.random() < 0.15:
        return change_bytes(data, rng)
    try:
        value = json.loads(data)
        return json.dumps(change_json(value, rng)).encode()
    except (ValueError, RecursionError):
        return change_bytes(data, rng)


def change_safetensors(data, rng, repair=None):
    """Change the header of a safetensors file, or its bytes.

    repair: given the data and the header before that is written, for what would otherwise refuse
        every changed file, such as checksums.
    """
    if len(data) < 8 or rng.random() < 0.15:
        return change_bytes(data, rng)
    begin = 8 + int.from_bytes(data[:8], "little")
    tensors = bytearray(data[begin:])
    try:
        header = json.loads(data[8:begin])
    except (ValueError, RecursionError):
        return change_bytes(data, rng)
    if rng.random() < 0.7:
        header = change_json(header, rng)
    if tensors and rng.random() < 0.4:
        tensors = bytearray(change_bytes(bytes(tensors), rng))
    if repair is not None and isinstance(header, dict):
        repair(tensors, header)
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text + bytes(tensors)
