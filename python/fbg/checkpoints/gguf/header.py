"""The header of a GGUF file: metadata, and the tensors with their places.

    "GGUF" | u32 version | u64 tensors | u64 pairs | pairs | tensors | padding | data, little-endian

    pair    string name | u32 type | value         string  u64 length | UTF-8
    tensor  string name | u32 axes | u64 sizes, the innermost first | u32 type | u64 offset
    array   u32 type | u64 length | values

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md: offsets count from the data and are
multiples of the alignment.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fbg.checkpoints.mapped_file import MappedFile, StoredTensor
from fbg.errors import ModelError
from fbg.reading import active_reads
from fbg.saved_file import MAX_SIZE

MAGIC, VERSIONS, MAX_AXES, ALIGNMENT = b"GGUF", (2, 3), 4, 32
# Types of values by number: scalars by their code in struct, then strings and arrays.
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
SCALARS[12] = "d"
STRING, ARRAY = 8, 9


@dataclass(frozen=True)
class TensorType:
    """size: bytes of a block of `count` elements."""

    name: str
    count: int
    size: int


_BLOCKS = """
    0 float32 1 4, 1 float16 1 2, 2 Q4_0 32 18, 3 Q4_1 32 20, 6 Q5_0 32 22, 7 Q5_1 32 24,
    8 Q8_0 32 34, 10 Q2_K 256 84, 11 Q3_K 256 110, 12 Q4_K 256 144, 13 Q5_K 256 176,
    14 Q6_K 256 210, 20 IQ4_NL 32 18, 23 IQ4_XS 256 136, 24 int8 1 1, 25 int16 1 2, 26 int32 1 4,
    27 int64 1 8, 28 float64 1 8, 30 bfloat16 1 2, 39 MXFP4 32 17"""
TYPES = {
    int(number): TensorType(name, int(count), int(size))
    for number, name, count, size in (row.split() for row in _BLOCKS.split(","))
}
SIZES = {kind.name: kind for kind in TYPES.values()}


@dataclass(frozen=True)
class Header:
    """metadata: arrays of numbers are NumPy's, others lists."""

    path: Path
    metadata: Mapping[str, Any]
    tensors: Mapping[str, StoredTensor]


def read_header(path: Path) -> Header:
    """Read a file, and check that each tensor is inside of it; raises ModelError. A load reads it
    once.
    """
    reads = active_reads()
    if reads is None:
        return _read(path)
    known = reads.parsed.get(str(path))
    header: Header = _read(path) if known is None else known
    reads.parsed[str(path)] = header
    return header


def _read(path: Path) -> Header:
    file = MappedFile(path)
    try:
        return _Reader(file).header()
    except (ValueError, struct.error) as error:
        raise ModelError(f"{path}: not a readable GGUF file: {error}") from None


class _Reader:
    """Reads values in turn; raises ValueError for those that the file cannot hold."""

    def __init__(self, file: MappedFile) -> None:
        self.file, self.at = file, 0

    def header(self) -> Header:
        magic = self._bytes(4)
        if magic != MAGIC:
            raise ValueError(f"must begin with {MAGIC!r}, got {magic!r}")
        version = self._number("I")
        if version not in VERSIONS:
            raise ValueError(f"version must be one of {VERSIONS}, little-endian, got {version}")
        tensors, pairs = self._count(24), self._count(13)
        metadata: dict[str, Any] = {}
        for _ in range(pairs):
            name = self._string()
            if name in metadata:
                raise ValueError(f"{name:.80} is there twice")
            metadata[name] = self._value(self._number("I"), name)
        found = [self._tensor() for _ in range(tensors)]
        return Header(self.file.path, metadata, self._placed(found, metadata))

    def _placed(
        self, found: list[tuple[str, TensorType, tuple[int, ...], int]], metadata: dict[str, Any]
    ) -> dict[str, StoredTensor]:
        """Return the tensors by name, none of which overlaps another."""
        alignment = metadata.get("general.alignment", ALIGNMENT)
        if type(alignment) is not int or not 0 < alignment < MAX_SIZE:
            raise ValueError(f"general.alignment must be an integer above 0, got {alignment!r:.80}")
        data, end = -(-self.at // alignment) * alignment, 0
        tensors: dict[str, StoredTensor] = {}
        for name, kind, shape, offset in sorted(found, key=lambda tensor: tensor[3]):
            size = math.prod(shape) // kind.count * kind.size
            if offset % alignment or offset < end or data + offset + size > len(self.file):
                raise ValueError(
                    f"tensor {name:.80}: {size} bytes at offset {offset} must be a multiple of "
                    f"{alignment}, from {end} on, and within {len(self.file) - data}"
                )
            if name in tensors:
                raise ValueError(f"tensor {name:.80} is there twice")
            tensors[name] = StoredTensor(self.file, name, kind.name, shape, data + offset)
            end = offset + size
        return tensors

    def _tensor(self) -> tuple[str, TensorType, tuple[int, ...], int]:
        name, axes = self._string(), self._number("I")
        if not 0 < axes <= MAX_AXES:
            raise ValueError(f"tensor {name:.80} must have 1 to {MAX_AXES} axes, got {axes}")
        shape = tuple(self._number("Q") for _ in range(axes))[::-1]
        number, offset = self._number("I"), self._number("Q")
        kind = TYPES.get(number)
        if kind is None:
            known = ", ".join(SIZES)
            raise ValueError(f"tensor {name:.80} must have a type of {known}, got number {number}")
        if any(size >= MAX_SIZE for size in shape) or shape[-1] % kind.count:
            raise ValueError(
                f"tensor {name:.80}: shape {shape} must have blocks of {kind.count} elements"
            )
        return name, kind, shape, offset

    def _value(self, kind: int, name: str) -> Any:
        if kind == STRING:
            return self._string()
        if kind != ARRAY:
            return self._number(_scalar(kind, name))
        kind = self._number("I")
        if kind == STRING:
            return self._strings(self._count(8))
        dtype = np.dtype(_scalar(kind, name)).newbyteorder("<")
        return np.frombuffer(self._bytes(self._count(dtype.itemsize) * dtype.itemsize), dtype)

    def _strings(self, count: int) -> list[str]:
        """Return so many strings: `_string`, for vocabularies of 10⁵ tokens."""
        data, end, found = self.file.bytes, len(self.file), []
        at = self.at
        for _ in range(count):
            begin = at + 8
            at = begin + int.from_bytes(data[at:begin], "little")
            if at > end:
                raise ValueError(f"a string ends at byte {at}, beyond {end}")
            found.append(data[begin:at].decode("utf-8"))
        self.at = at
        return found

    def _number(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self._bytes(struct.calcsize(f"<{code}")))[0]

    def _count(self, size: int) -> int:
        """Return how many items follow, each of so many bytes at least."""
        count: int = self._number("Q")
        if count * size > len(self.file) - self.at:
            raise ValueError(f"{count} items at byte {self.at} are more than the file holds")
        return count

    def _string(self) -> str:
        return self._bytes(self._count(1)).decode("utf-8")

    def _bytes(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.file):
            raise ValueError(f"it ends at byte {len(self.file)}, where {end} are needed")
        found = self.file.bytes[self.at : end]
        self.at = end
        return found


def _scalar(kind: int, name: str) -> str:
    if kind not in SCALARS:
        raise ValueError(f"{name:.80} must have values of a known type, got number {kind}")
    return SCALARS[kind]
