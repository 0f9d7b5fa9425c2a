"""Tensors of a safetensors file: u64 length of the JSON | JSON | tensors, all little-endian.

https://huggingface.co/docs/safetensors: the JSON has for each tensor its dtype, its shape and where
its bytes begin and end, counted from the end of the JSON.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from fbg.checkpoints.mapped_file import MAX_DIMENSIONS, MappedFile, StoredTensor
from fbg.errors import ModelError
from fbg.files import open_regular
from fbg.matmul.packed_file import read_header

__all__ = ["read_safetensors"]

MAX_HEADER = 100_000_000  # as in the reference implementation
MAX_SIZE = 1 << 48  # beyond any file

# Name and bytes of an element. Other types exist; their tensors are known, but cannot be read.
DTYPES = {
    "F64": ("float64", 8),
    "F32": ("float32", 4),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "I64": ("int64", 8),
    "I32": ("int32", 4),
    "I16": ("int16", 2),
    "I8": ("int8", 1),
    "U8": ("uint8", 1),
    "BOOL": ("bool", 1),
}


def read_safetensors(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a file by name; raises ModelError."""
    file = MappedFile(path)
    try:
        with open_regular(path) as stream:
            header, first, total = read_header(stream, MAX_HEADER)
        if not isinstance(header, dict):
            raise ValueError("its header is not an object")
        header.pop("__metadata__", None)
        tensors = {name: _tensor(file, name, entry, first) for name, entry in header.items()}
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: not a readable safetensors file: {error}") from None
    end = max((_end(entry) for entry in header.values()), default=0)
    if first + end != total or total != len(file):
        raise ModelError(
            f"{path}: not a readable safetensors file: it has {total} bytes, but its header "
            f"describes {first + end}"
        )
    return tensors


def _end(entry: Any) -> int:
    end: int = entry["data_offsets"][1]
    return end


def _tensor(file: MappedFile, name: str, entry: Any, first: int) -> StoredTensor:
    fields = entry if isinstance(entry, dict) else {}
    stored: Any = fields.get("dtype")
    shape: Any = fields.get("shape")
    offsets: Any = fields.get("data_offsets")
    if (
        not isinstance(stored, str)
        or not stored.isupper()  # "float32" is what this package calls F32
        or not _are_sizes(shape, MAX_DIMENSIONS)
        or not _are_sizes(offsets, 2)
        or len(offsets) != 2
        or not offsets[0] <= offsets[1] <= len(file) - first
    ):
        raise ValueError(f"tensor {name}: its header says {str(entry)[:200]}")
    dtype, item = DTYPES.get(stored, (stored, None))
    if item is not None and offsets[1] - offsets[0] != math.prod(shape) * item:
        raise ValueError(
            f"tensor {name}: {offsets[1] - offsets[0]} bytes for shape {tuple(shape)} of {dtype}"
        )
    return StoredTensor(file, name, dtype, tuple(shape), first + offsets[0])


def _are_sizes(values: Any, most: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) <= most
        and all(type(value) is int and 0 <= value < MAX_SIZE for value in values)
    )
