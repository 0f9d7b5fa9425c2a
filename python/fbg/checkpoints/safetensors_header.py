"""The header of a safetensors file: its tensors, and where they are stored.

    u64 length of the JSON | JSON | tensors, all little-endian

    {"__metadata__": {…}, NAME: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …}

https://huggingface.co/docs/safetensors: offsets count from the end of the JSON.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fbg.checkpoints.mapped_file import are_sizes

# Name and bytes of an element. Other types exist; their tensors are known, but cannot be read.
DTYPES = {
    "F64": ("float64", 8),
    "F32": ("float32", 4),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    **{f"I{8 * size}": (f"int{8 * size}", size) for size in (1, 2, 4, 8)},
    **{f"U{8 * size}": (f"uint{8 * size}", size) for size in (1, 2, 4, 8)},
    "BOOL": ("bool", 1),
    "F8_E4M3": ("float8_e4m3fn", 1),
    "F8_E5M2": ("float8_e5m2", 1),
    "F8_E8M0": ("float8_e8m0fnu", 1),
}
# Types that NumPy has only with ml_dtypes.
FOREIGN = ("BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0")


class Entry(NamedTuple):
    """A tensor; begin, end: in bytes from the beginning of the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def entries_of(
    header: dict[str, Any], first: int, verdict: str = ""
) -> tuple[dict[str, Entry], int]:
    """Return the tensors of a file by name, and where the last one ends; raises ValueError.

    header: without the metadata. first: where the JSON ends. verdict: name of the file in errors.
    """
    entries = {name: _entry(name, value, first, verdict) for name, value in header.items()}
    return entries, max((each.end for each in entries.values()), default=first)


def _entry(name: str, value: Any, first: int, verdict: str) -> Entry:
    fields: dict[str, Any] = value if isinstance(value, dict) else {}
    shape, offsets, dtype = fields.get("shape"), fields.get("data_offsets"), fields.get("dtype")
    if (
        not isinstance(dtype, str)
        or not dtype.isupper()  # "float32" is what this package calls F32
        or not are_sizes(shape, list)
        or not are_sizes(offsets, list)
        or len(offsets) != 2
        or offsets[0] > offsets[1]
        or (dtype in DTYPES and offsets[1] - offsets[0] != math.prod(shape) * DTYPES[dtype][1])
    ):
        raise ValueError(f"tensor {name}: {verdict}its header says {str(value)[:200]}")
    return Entry(dtype, tuple(shape), first + offsets[0], first + offsets[1])
