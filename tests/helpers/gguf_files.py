"""GGUF files for tests, written from metadata and arrays without any package."""

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NUMBERS = {
    **{"Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "Q2_K": 10, "Q3_K": 11},
    **{"Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "IQ4_NL": 20, "IQ4_XS": 23, "MXFP4": 39},
}
FLOATS = {np.dtype("f4"): 0, np.dtype("f2"): 1, np.dtype(ml_dtypes.bfloat16): 30}
FLOATS[np.dtype("f8")] = 28
ARRAYS = {np.dtype("i4"): 5, np.dtype("f4"): 6, np.dtype("u1"): 0, np.dtype("i1"): 1}


class Blocks(NamedTuple):
    """A tensor of a type that NumPy does not have. octets: (rows, bytes of a row)."""

    kind: str
    shape: tuple[int, ...]
    octets: Array


def gguf_bytes(metadata, tensors, *, alignment=32):
    """The file. Metadata are strings, flags, integers, floats, lists of strings or arrays."""
    header = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    header += b"".join(string(key) + _value(value) for key, value in metadata.items())
    data = b""
    for name, tensor in tensors.items():
        data += bytes(-len(data) % alignment)
        number = NUMBERS[tensor.kind] if isinstance(tensor, Blocks) else FLOATS[tensor.dtype]
        shape = tensor.shape[::-1]
        header += string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        header += struct.pack("<IQ", number, len(data))
        data += (tensor.octets if isinstance(tensor, Blocks) else tensor).tobytes()
    return header + bytes(-len(header) % alignment) + data


def write_gguf(path, metadata, tensors):
    path.write_bytes(gguf_bytes(metadata, tensors))
    return path


def string(text):
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _value(value):
    if isinstance(value, str):
        return struct.pack("<I", 8) + string(value)
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, np.ndarray):
        return struct.pack("<IIQ", 9, ARRAYS[value.dtype], value.size) + value.tobytes()
    assert isinstance(value, Sequence)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(string, value))
