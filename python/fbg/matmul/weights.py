"""Packed weights as the native module keeps them, and which weights each type can hold."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from fbg import _fbg
from fbg.arrays import require_choice

PackedWeight: TypeAlias = _fbg.PackedB


class Int4Layout(NamedTuple):
    """The format of 4-bit weights: how many share a scale, and whether there is no offset."""

    group: int
    symmetric: bool


# The dtypes of 4-bit weights.
INT4_DTYPES = {
    "int4": Int4Layout(32, True),
    "int4_g64": Int4Layout(64, True),
    "int4_g128": Int4Layout(128, True),
    "int4_offset": Int4Layout(32, False),
    "int4_g64_offset": Int4Layout(64, False),
    "int4_g128_offset": Int4Layout(128, False),
}
PACKED_DTYPES = ("int8", "int4", "float32", "float16", "bfloat16")  # arguments of `PackedB`
_INT4_NAMES = {layout: name for name, layout in INT4_DTYPES.items()}

# The dtypes whose products quantize activations, too.
QUANTIZED = ("int8", *INT4_DTYPES)

# The dtypes of linear layers, and the largest magnitude that a weight may have in each.
WEIGHT_LIMITS = {
    "float32": np.inf,
    "bfloat16": 3.3895e38,
    "float16": 65504.0,
    "float16_accum": 250.0,  # the sums of a part of K cannot exceed 65504
    "int8": np.inf,
    # Scales and offsets are float16.
    **{name: 4.4e5 if layout.symmetric else 65504.0 for name, layout in INT4_DTYPES.items()},
}


def int4_name(group: int, symmetric: bool) -> str:
    """Return the name of the dtype of 4-bit weights."""
    return _INT4_NAMES[Int4Layout(group, symmetric)]


def require_packed_dtype(dtype: object) -> None:
    """Raise ValueError unless weights can have that dtype, with the way out for names of 4-bit
    weights that only `fbg.load` takes.
    """
    if isinstance(dtype, str) and dtype != "int4" and dtype in INT4_DTYPES:
        layout = INT4_DTYPES[dtype]
        options = f"group={layout.group}" + ("" if layout.symmetric else ", symmetric=False")
        raise ValueError(f"PackedB: dtype={dtype!r} is dtype='int4', {options} here")
    require_choice(dtype, "PackedB: dtype", *PACKED_DTYPES, None)
