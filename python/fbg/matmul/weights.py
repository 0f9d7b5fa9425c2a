"""Packed weights as the native module keeps them, and which weights each type can hold."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from fbg import _fbg

__all__ = ["WEIGHT_LIMITS", "PackedWeight", "dtype_name"]

PackedWeight: TypeAlias = (
    _fbg.PackedBInt8
    | _fbg.PackedBInt16
    | _fbg.PackedBFloat32
    | _fbg.PackedBFloat16
    | _fbg.PackedBBFloat16
)

_DTYPE_NAMES: dict[type, str] = {
    _fbg.PackedBInt8: "int8",
    _fbg.PackedBInt16: "int8",
    _fbg.PackedBFloat32: "float32",
    _fbg.PackedBFloat16: "float16",
    _fbg.PackedBBFloat16: "bfloat16",
}

# The dtypes of linear layers, and the largest magnitude that a weight may have in each.
WEIGHT_LIMITS = {
    "float32": np.inf,
    "bfloat16": 3.3895e38,
    "float16": 65504.0,
    "int8": np.inf,
}


def dtype_name(weight: PackedWeight) -> str:
    """Return the name of the dtype of the packed elements."""
    return _DTYPE_NAMES[type(weight)]
