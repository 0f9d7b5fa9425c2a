"""Packed weights as the native module keeps them, and which weights each type can hold."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from fbg import _fbg

__all__ = [
    "INT4",
    "INT4_DTYPES",
    "QUANTIZED",
    "WEIGHT_LIMITS",
    "PackedWeight",
    "dtype_name",
]

PackedWeight: TypeAlias = (
    _fbg.PackedBInt8
    | _fbg.PackedBInt16
    | _fbg.PackedBFloat32
    | _fbg.PackedBFloat16
    | _fbg.PackedBBFloat16
    | _fbg.PackedBInt4G32
    | _fbg.PackedBInt4G64
    | _fbg.PackedBInt4G128
)

INT4 = (_fbg.PackedBInt4G32, _fbg.PackedBInt4G64, _fbg.PackedBInt4G128)
# The dtypes of 4-bit weights, by the number of weights that share a scale.
INT4_DTYPES = {32: "int4", 64: "int4_g64", 128: "int4_g128"}

_DTYPE_NAMES: dict[type, str] = {
    _fbg.PackedBInt8: "int8",
    _fbg.PackedBInt16: "int8",
    _fbg.PackedBFloat32: "float32",
    _fbg.PackedBFloat16: "float16",
    _fbg.PackedBBFloat16: "bfloat16",
    **dict(zip(INT4, INT4_DTYPES.values(), strict=True)),
}

# The dtypes whose products quantize activations, too.
QUANTIZED = ("int8", *INT4_DTYPES.values())

# The dtypes of linear layers, and the largest magnitude that a weight may have in each.
WEIGHT_LIMITS = {
    "float32": np.inf,
    "bfloat16": 3.3895e38,
    "float16": 65504.0,
    "int8": np.inf,
    **dict.fromkeys(INT4_DTYPES.values(), 4.4e5),  # scales are float16
}


def dtype_name(weight: PackedWeight) -> str:
    """Return the name of the dtype of the packed elements."""
    return _DTYPE_NAMES[type(weight)]
